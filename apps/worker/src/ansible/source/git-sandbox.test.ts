import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outboundSettings } from '@muster/core/outbound'
import { claimJobRun } from '@muster/core/run-queue'
import { runJob } from '@muster/core/runs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitServer, serveGit } from '../../testing/git-server.ts'
import { createIsolation } from '../../testing/isolation.ts'
import { createRunFixture, type RunFixture } from '../../testing/run-fixture.ts'
import type { Deps } from '../deps.ts'
import { executeRun } from '../execute-run.ts'
import { type Isolation, noIsolation } from '../isolation/isolation.ts'
import { createRunDirectory } from '../run-directory/run-directory.ts'
import { checkOutRepository, resolveRepository } from './check-out.ts'
import { REPOSITORY_LIMITS, SourceError } from './confine.ts'

const FAKE = fileURLToPath(new URL('../../testing/fake-ansible-playbook.mjs', import.meta.url))
const MiB = 1024 * 1024

let fixture: RunFixture
let isolation: Isolation
let root: string
let server: GitServer
let node: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-gits-'))
  ;[fixture, server] = await Promise.all([
    createRunFixture({ ANSIBLE_PLAYBOOK: FAKE, JOB_CANCEL_GRACE_PERIOD: 1 }),
    serveGit(root, null),
  ])
  const { id: credentialId } = await fixture.given.credential(fixture.admin, 'SSH_KEY')
  node = (await fixture.given.fleet(fixture.admin, { nodes: 1, with: { credentialId } }))[0]!.name
  isolation = await createIsolation({ ...fixture.config, ANSIBLE_PLAYBOOK: process.env.ANSIBLE_PLAYBOOK ?? FAKE }, 'auto')
  for (const [name, size] of [
    ['plays', 10],
    ['large', 3 * MiB],
  ] as const) {
    const folder = join(root, name)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', ...args], { cwd: folder })
    await mkdir(folder)
    // Random bytes are not compressed.
    await writeFile(join(folder, 'site.yml'), name === 'plays' ? '- hosts: all\n' : crypto.getRandomValues(Buffer.alloc(65_536)))
    for (let i = 0; i * 65_536 < size; i++) await writeFile(join(folder, `f${i}`), crypto.getRandomValues(Buffer.alloc(65_536)))
    git('init', '--quiet', '--initial-branch=main')
    git('add', '.')
    git('commit', '--quiet', '-m', 'first')
  }
})
afterAll(async () => {
  await Promise.all([fixture?.close(), server?.close()])
  await rm(root, { recursive: true, force: true })
})

/** Fetches a repository into a new run directory and returns what is there, or throws. */
async function fetch(url: string, { limits = REPOSITORY_LIMITS, within = isolation, address = null as string | null } = {}) {
  const user = within.user()
  const directory = await createRunDirectory(fixture.config.ANSIBLE_WORK_DIR, 'fetch0', user)
  try {
    const { signal } = new AbortController()
    const project = join(directory.dir, 'project')
    const options = { root: project, directory, isolation: within, signal, protocols: ['http'], limits, address }
    await checkOutRepository(url, 'main', options)
    return await readdir(project)
  } finally {
    within.release(user)
    await directory.remove()
  }
}

let count = 0
async function run(gitUrl: string, deps: Partial<Deps> = {}) {
  const columns = { source: 'git' as const, gitUrl, gitRef: 'main', playbookPath: 'site.yml' }
  const { id } = await runJob(fixture.operator, { template: await fixture.template(`git${++count}`, '', columns), limit: node })
  const claim = await claimJobRun(fixture.worker, { id, workerId: 'worker-1' })
  const { config, store, listener, stopping } = fixture
  const all = {
    config,
    store,
    listener,
    isolation: noIsolation(null),
    stopping: stopping.signal,
    gitProtocols: ['http', 'ssh'],
    ...deps,
  }
  await executeRun(all, fixture.worker, claim!)
  return (await fixture.read(id)).run
}

test('fetches in the sandbox of the run, as its user', async (ctx) => {
  if (isolation.mode !== 'bubblewrap') ctx.skip(`${isolation.weakness}`)
  expect(await fetch(`${server.url}/plays`)).toEqual(['f0', 'site.yml'])
  // A server sees git's own headers only; the mounts and the user of git are those of the sandbox.
  let seen = ''
  const spy = createServer(async (_request, response) => {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const args = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      if (!/git-remote-http/.test(args) || !args.includes(`${port}`)) continue
      seen = `${await readFile(`/proc/${pid}/status`, 'utf8')}${await readFile(`/proc/${pid}/mounts`, 'utf8')}`
    }
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => spy.listen(0, '127.0.0.1', resolve))
  const { port } = spy.address() as AddressInfo
  await expect(fetch(`http://127.0.0.1:${port}/plays`)).rejects.toThrow(SourceError)
  spy.close()
  expect(seen).toMatch(/NoNewPrivs:\t1/)
  expect(seen).toContain('/etc/passwd')
  if (process.getuid?.() === 0) expect(seen).not.toMatch(/^Uid:\t0\t/m)
})

test('connects only to the checked address and follows no redirect', async () => {
  const { port } = new URL(server.url)
  // The name does not resolve, so git can only use the address.
  expect(await fetch(`http://git.invalid:${port}/plays`, { address: '127.0.0.1' })).toEqual(['f0', 'site.yml'])
  const seen: (string | undefined)[] = []
  const redirecting = createServer(({ url }, response) => {
    seen.push(url)
    response.writeHead(301, { location: `${server.url}/plays/info/refs?service=git-upload-pack` }).end()
  })
  await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve))
  const { port: other } = redirecting.address() as AddressInfo
  await expect(fetch(`http://127.0.0.1:${other}/plays`)).rejects.toThrow(/Redirects are not followed/)
  redirecting.close()
  expect(seen).toHaveLength(1)
})

test('stops a fetch that exceeds the limit of its size, while it runs', async () => {
  const limits = { maxBytes: MiB, maxEntries: 20_000 }
  // The pack is one file of more than a MiB: the kernel ends git in the sandbox, and the watched folder ends it elsewhere.
  await expect(fetch(`${server.url}/large`, { limits })).rejects.toThrow(SourceError)
  await expect(fetch(`${server.url}/large`, { limits: { ...limits, maxEntries: 5 } })).rejects.toThrow(SourceError)
  expect(await readdir(fixture.config.ANSIBLE_WORK_DIR)).toEqual([])
})

test('ends git while a server keeps sending', async () => {
  const limits = { maxBytes: 100 * 1024, maxEntries: 20_000 }
  const endless = await serveEndlessly()
  await expect(fetch(`${endless.url}/large`, { limits, within: noIsolation(null) })).rejects.toThrow(
    'The repository has more than 0 MiB.',
  )
  endless.close()
})

test.each([
  'http://127.0.0.1/a',
  'http://localhost/a',
  'http://[::1]/a',
  'http://0x7f.1/a',
  'http://2130706433/a',
  'ssh://git@127.0.0.1/a',
  'ssh://git@0x7f.1/a',
  'http://169.254.169.254/latest/meta-data',
  'https://[::ffff:127.0.0.1]/a',
])('rejects %s unless the installation lists the address', async (url) => {
  await expect(resolveRepository(url, [])).rejects.toThrow(/own machine, its link, or a metadata service.*LOCAL_TARGETS/)
  await resolveRepository(url, outboundSettings.LOCAL_TARGETS.parse('127.0.0.0/8,::1,169.254.0.0/16'))
})

test('a run rejects a local repository by default and connects to nothing', async () => {
  const config = { ...fixture.config, LOCAL_TARGETS: [] }
  const { error } = await run(`${server.url}/plays`, { config })
  expect(error).toContain('in LOCAL_TARGETS')
  expect((await run(`${server.url}/plays`)).gitCommit).toMatch(/^[0-9a-f]{40}$/)
})

test('never uses the keys of the worker for SSH', async () => {
  expect((await run('ssh://git@127.0.0.1/a')).error).toMatch(/needs a credential: git does not use the keys of the worker/)
})

/** Forwards requests to `server`, and never ends an answer of more than a MiB. */
async function serveEndlessly() {
  const http = createServer(async (request, response) => {
    const body = request.method === 'POST' ? { body: Buffer.concat(await request.toArray()) } : {}
    const headers = Object.entries(request.headers).filter(
      ([name]) => /^(content-|git-protocol|accept$)/.test(name) && name !== 'content-length',
    )
    const upstream = await globalThis.fetch(`${server.url}${request.url}`, {
      method: request.method!,
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...body,
    })
    const answer = Buffer.from(await upstream.arrayBuffer())
    response.writeHead(upstream.status, { 'content-type': upstream.headers.get('content-type') ?? '' })
    if (answer.length < MiB) response.end(answer)
    else response.write(answer.subarray(0, MiB))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, close: () => http.close().closeAllConnections() }
}
