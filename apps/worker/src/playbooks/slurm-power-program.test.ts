import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createCertificate } from '../testing/slurmrestd.ts'

const PROGRAM = fileURLToPath(new URL('../../../../playbooks/roles/slurm_power/files/muster_slurm_power.py', import.meta.url))
/** Runs the program with another file of settings. */
const RUN = `import sys
source = open(${JSON.stringify(PROGRAM)}).read().replace('/etc/muster-slurm/power.json', sys.argv.pop(1))
sys.argv = sys.argv[1:]
exec(compile(source, 'program', 'exec'))`

const TOKEN = 'msp_of_the_cluster'
type Answer = { status: number; body?: unknown; isCut?: boolean; before?: () => Promise<void>; headers?: Record<string, string> }
const certificate = createCertificate()
let folder: string
let server: Server
let answers: Answer[]
/** Process of the program. */
let pid: number
let requests: { path: string; authorization: string; body: unknown }[]
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-power-'))
  server = createServer(certificate, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || 'null')
    requests.push({ path: request.url!, authorization: request.headers.authorization!, body })
    const { status, body: answer, headers, isCut, before } = answers.shift()!
    await before?.()
    if (isCut) return void response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy())
    response.writeHead(status, headers).end(JSON.stringify(answer ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server?.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(() => {
  requests = []
})

const url = () => `https://127.0.0.1:${(server.address() as AddressInfo).port}`
/** @returns the exit code */
async function run(
  verb: string,
  hostlist: string,
  { seconds = 60, ...more }: { seconds?: number | string; url?: string; ca?: string } = {},
) {
  const file = path.join(folder, 'power.json')
  const config = { url: url(), ca: certificate.cert, token: TOKEN, seconds: { suspend: seconds, resume: seconds }, ...more }
  await writeFile(file, JSON.stringify(config))
  const running = promisify(execFile)('python3', ['-c', RUN, file, `/usr/local/lib/muster-slurm/${verb}`, hostlist])
  pid = running.child.pid!
  return running.then(
    () => 0,
    (error: { code: number; stderr: string }) => (error.stderr === '' ? error.code : error.stderr),
  )
}
const done = (accepted: string): Answer => ({ status: 200, body: { accepted, waiting: [], refused: [] } })

test('repeats what failed and what waits, and only that', async () => {
  const waiting = [{ name: 'n2', reason: 'locked' }]
  answers = [{ status: 503 }, { status: 200, body: { accepted: 'n1', waiting, refused: [] } }, done('n2')]
  expect(await run('suspend', 'n[1-2]')).toBe(0)
  const request = { path: '/api/slurm/power', authorization: `Bearer ${TOKEN}` }
  expect(requests).toEqual([
    { ...request, body: { verb: 'SUSPEND', nodes: 'n[1-2]' } },
    { ...request, body: { verb: 'SUSPEND', nodes: 'n[1-2]' } },
    { ...request, body: { verb: 'SUSPEND', nodes: 'n2' } },
  ])
})

test('fails when a node is refused, after the time limit, and without a valid token', async () => {
  answers = [{ status: 200, body: { accepted: '', waiting: [], refused: [{ name: 'n1', reason: 'no BMC' }] } }]
  expect(await run('resume', 'n1')).toBe(1)
  answers = [{ status: 503 }]
  expect(await run('resume', 'n1', { seconds: 0 })).toBe(1)
  answers = [{ status: 401, body: { error: 'The token is not valid.' } }]
  expect(await run('resume', 'n1')).toBe(1)
  expect(requests).toHaveLength(3)
})

test('sends the token only to the configured address, over HTTPS with a trusted certificate', async () => {
  answers = [{ status: 302, headers: { location: `${url()}/other` } }, done('n1')]
  expect(await run('resume', 'n1')).toBe(1)
  expect(requests.map(({ path }) => path)).toEqual(['/api/slurm/power'])
  expect(await run('resume', 'n1', { url: url().replace('https', 'http'), seconds: 0 })).toBe(1)
  expect(await run('resume', 'n1', { ca: createCertificate().cert, seconds: 0 })).toBe(1)
  expect(await run('other', 'n1')).toBe(2)
  expect(requests).toHaveLength(1)
})

test('accepts numbers as text, repeats after an incomplete answer, and fails after an unexpected one', async () => {
  answers = [{ status: 200, isCut: true }, done('n1')]
  expect(await run('resume', 'n1', { seconds: '60' })).toBe(0)
  expect(requests).toHaveLength(2)
  answers = [{ status: 200, body: { accepted: '', waiting: 5, refused: [] } }]
  expect(await run('resume', 'n1')).toBe(1)
})

test('shows the token neither in its arguments nor in its environment', async () => {
  let seen = ''
  const before = async () => {
    for (const name of ['cmdline', 'environ']) seen += await readFile(`/proc/${pid}/${name}`, 'utf8')
  }
  answers = [{ ...done('n1'), before }]
  expect(await run('resume', 'n1')).toBe(0)
  expect(requests).toMatchObject([{ authorization: `Bearer ${TOKEN}` }])
  expect(seen).toContain('muster-slurm/resume')
  expect(seen).not.toContain(TOKEN)
})
