import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createCredential, deleteCredential, updateCredential } from '@muster/core/credentials'
import { claimJobRun } from '@muster/core/run-queue'
import { runJob } from '@muster/core/runs'
import { createJobTemplate } from '@muster/core/templates'
import { makeHostKey } from '@muster/core/testing'
import type { Lab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitServer, serveGit } from '../../testing/git-server.ts'
import { createRunFixture, type RunFixture } from '../../testing/run-fixture.ts'
import { executeRun } from '../execute-run.ts'

const FAKE = fileURLToPath(new URL('../../testing/fake-ansible-playbook.mjs', import.meta.url))
const TOKEN = 'glpat of the depot'

let fixture: RunFixture
let lab: Lab
let depot: string
let server: GitServer
let commit: string
beforeAll(async () => {
  depot = await mkdtemp(join(tmpdir(), 'muster-depot-'))
  ;[fixture, lab, server] = await Promise.all([
    createRunFixture({ ANSIBLE_PLAYBOOK: FAKE, JOB_CANCEL_GRACE_PERIOD: 1 }),
    // In this mode sshd shares the file system with this test.
    createLab({ nodes: [{ name: 'git', profile: 'cpu' }], mode: 'loopback' }),
    serveGit(depot, { username: 'git', password: TOKEN }),
  ])
  const key = await fixture.given.credential(fixture.admin, 'SSH_KEY')
  await fixture.given.fleet(fixture.admin, { nodes: 1, with: () => ({ credentialId: key.id }) })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t.test', ...args], {
      cwd: join(depot, 'plays'),
      encoding: 'utf8',
    })
  await mkdir(join(depot, 'plays'))
  await writeFile(join(depot, 'plays/look.yml'), '- hosts: all\n')
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '-m', 'plays')
  commit = git('rev-parse', 'HEAD').trim()
})
afterAll(async () => {
  await Promise.all([fixture?.close(), server?.close()])
  await rm(depot, { recursive: true, force: true })
})

let count = 0
const name = () => `of git ${++count}`
/** Runs a template with its playbook in the repository at `gitUrl`. */
async function fetched(gitUrl: string, gitCredentialId: string | null) {
  const columns = { source: 'git' as const, gitUrl, gitRef: 'main', gitCredentialId, playbookPath: 'look.yml' }
  const { id } = await runJob(fixture.operator, {
    template: await fixture.template(`fetch${++count}`, '', columns),
    limit: 'all',
  })
  const claim = await claimJobRun(fixture.worker, { id, workerId: 'worker-1' })
  const { config, store, listener, isolation, stopping } = fixture
  await executeRun(
    { config, store, listener, isolation, stopping: stopping.signal, gitProtocols: ['http', 'ssh'] },
    fixture.worker,
    claim!,
  )
  const { run, log } = await fixture.read(id)
  expect(await readdir(config.ANSIBLE_WORK_DIR)).toEqual([])
  return { commit: run.gitCommit, error: run.error, log }
}

test('sends an HTTP token only to its own server', async () => {
  const anybody = await fetched(`${server.url}/plays`, null)
  expect(anybody).toMatchObject({ commit: null, error: expect.stringContaining('could not be fetched at main') })
  const fields = { kind: 'GIT' as const, host: '127.0.0.1', port: server.port }
  const right = await createCredential(fixture.admin, { name: name(), ...fields, password: TOKEN })
  expect(await fetched(`${server.url}/plays`, right.id)).toMatchObject({ error: null, commit })
  const wrong = await createCredential(fixture.admin, { name: name(), ...fields, password: 'another one' })
  const rejected = await fetched(`${server.url}/plays`, wrong.id)
  expect(rejected).toMatchObject({ commit: null, error: expect.stringMatching(/Authentication failed/) })
  expect(JSON.stringify(rejected)).not.toContain('another one')

  // A server that redirects git to another one.
  const thief: Server = createServer((request, response) => {
    if (request.headers.authorization) stolen.push(request.headers.authorization)
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
  })
  const stolen: string[] = []
  await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve))
  const away: Server = createServer((request, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${(thief.address() as AddressInfo).port}${request.url}` }).end()
  })
  await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve))
  const { port } = away.address() as AddressInfo
  const led = await createCredential(fixture.admin, { name: name(), ...fields, port, password: TOKEN })
  expect(await fetched(`http://127.0.0.1:${port}/plays`, led.id)).toMatchObject({ commit: null })
  expect(stolen).toEqual([])
  thief.close()
  away.close()

  expect(await fetched(`http://127.0.0.1:${port}/plays`, right.id)).toMatchObject({
    error: expect.stringContaining(`is for 127.0.0.1:${server.port} and not for 127.0.0.1:${port}`),
  })
})

test('fetches over SSH with a key and requires the pinned host key', async () => {
  const node = lab.node('git')
  const { username, encryptedPrivateKey: privateKey, passphrase } = lab.credentials.sshKey
  const url = `ssh://${username}@${node.host}:${node.port}${depot}/plays`
  const fields = { kind: 'GIT' as const, host: node.host, port: node.port, privateKey, passphrase }
  const line = `[${node.host}]:${node.port} ${node.hostPublicKey}`
  const right = await createCredential(fixture.admin, { name: name(), ...fields, hostKey: line })
  expect(right).toMatchObject({ hostKey: node.hostPublicKey, hostKeyApprovedAt: expect.any(Date) })
  expect(await fetched(url, right.id)).toMatchObject({ error: null, commit })
  // Without a user in the URL, git uses the credential's user and never the worker's, which would succeed here.
  const bare = url.replace(`${username}@`, '')
  expect(await fetched(bare, right.id)).toMatchObject({ commit: null, error: expect.stringContaining('Permission denied') })
  await updateCredential(fixture.admin, { id: right.id, username })
  expect(await fetched(bare, right.id)).toMatchObject({ error: null, commit })
  await updateCredential(fixture.admin, { id: right.id, hostKey: makeHostKey() })
  expect(await fetched(url, right.id)).toMatchObject({ commit: null, error: expect.stringMatching(/[Hh]ost key|verification/) })
})

test('exposes no secret in arguments, environments or files of git', async () => {
  const snapshots: string[] = []
  const slow = await serveGit(depot, { username: 'git', password: TOKEN })
  try {
    const credential = await createCredential(fixture.admin, {
      name: name(),
      kind: 'GIT',
      host: '127.0.0.1',
      port: slow.port,
      password: TOKEN,
    })
    let over = false
    const running = fetched(`${slow.url}/plays`, credential.id).finally(() => (over = true))
    while (!over) snapshots.push(await everything(fixture.config.ANSIBLE_WORK_DIR))
    expect(await running).toMatchObject({ error: null, commit })
  } finally {
    await slow.close()
  }
  expect(snapshots.join('')).toContain('git-remote-http')
  expect(snapshots.join('')).not.toContain(TOKEN)
})

test('templates accept a credential only for its own server, and prevent its deletion', async () => {
  const credential = await createCredential(fixture.admin, { name: name(), kind: 'GIT', host: 'git.test', password: TOKEN })
  const make = (gitUrl: string, gitCredentialId = credential.id) =>
    createJobTemplate(fixture.admin, {
      name: `created${++count}`,
      source: 'git',
      gitUrl,
      gitRef: 'main',
      playbookPath: 'a.yml',
      gitCredentialId,
    })
  const created = await make('https://git.test/a/b.git')
  const numbered = { kind: 'GIT' as const, host: '2001:db8::1', port: 443, password: TOKEN }
  await make('https://[2001:db8::1]/a', (await createCredential(fixture.admin, { name: name(), ...numbered })).id)
  for (const url of ['https://git.test:8443/a/b.git', 'https://elsewhere.test/a/b.git', 'ssh://git@git.test/a/b.git'])
    await expect(make(url)).rejects.toMatchObject({ issues: [{ path: 'gitCredentialId' }] })
  const become = await fixture.given.credential(fixture.admin, 'BECOME')
  await expect(make('https://git.test/a', become.id)).rejects.toThrow(/choose one of the kind GIT/)
  await expect(deleteCredential(fixture.admin, { id: credential.id })).rejects.toThrow(
    `used by the job templates ${created.name}`,
  )
})

/** Command lines and environments of git's processes, and every file below `dir`. */
async function everything(dir: string): Promise<string> {
  const pids = (await readdir('/proc')).filter((pid) => /^\d+$/.test(pid))
  const seen = pids.map(async (pid) => {
    const [args, env] = await Promise.all(
      ['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
    )
    return env?.includes(dir) ? `${args}${env}` : ''
  })
  const files = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])
  const texts = files.filter((f) => f.isFile()).map((f) => readFile(join(f.parentPath, f.name), 'utf8').catch(() => ''))
  return (await Promise.all([...seen, ...texts])).join('\n')
}
