import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { LOOPBACK } from '@muster/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkMinions } from './check-minions.ts'
import { createSaltClient } from './salt-client.ts'
import { readStateResult } from './state-result.ts'

type Reply = { status: number; body: string; headers?: Record<string, string> }
type Seen = { url: string; token: string | undefined; body: Record<string, unknown> & Record<string, unknown>[] }

// Recorded from Salt 3008.5 (salt-master, salt-api with CherryPy 18.10, salt-minion on Debian 12).
const page = (title: string, text: string) =>
  `<!DOCTYPE html PUBLIC\n"-//W3C//DTD XHTML 1.0 Transitional//EN">\n<html>\n<head>\n    <title>${title}</title>\n</head>\n    <body>\n        <h2>${title}</h2>\n        <p>${text}</p>\n    </body>\n</html>\n`
const NO_LOGIN: Reply = {
  status: 401,
  body: page('401 Unauthorized', 'Could not authenticate using provided credentials'),
}
const NO_TOKEN: Reply = { status: 401, body: page('401 Unauthorized', 'No permission -- see authorization schemes') }
const NO_PERMISSION: Reply = { status: 401, body: page('401 Unauthorized', 'Authorization error occurred.') }
const login = (token: string): Reply => ({
  status: 200,
  body: `{"return": [{"token": "${token}", "expire": 1795497111.59961, "start": 1795453911.59961, "user": "muster", "eauth": "sharedsecret", "perms": [".*", "@jobs", "@runner", "@wheel"]}]}`,
})
const KEYS: Reply = {
  status: 200,
  body: '{"return": [{"tag": "salt/wheel/20261123171213189597", "data": {"fun": "wheel.key.list_all", "jid": "20261123171213189597", "tag": "salt/wheel/20261123171213189597", "user": "muster", "return": {"minions_pre": ["gpu02"], "minions_rejected": ["gpu03"], "minions": ["gpu01.example.org", "gpu05", "gpu10", "gpu11"], "minions_denied": ["gpu04"], "local": ["vm.pem", "vm.pub"]}, "success": true}}]}',
}
const NOT_RETURNED =
  'Minion did not return. [No response]\\nThe minions may not have all finished running and any remaining minions will return upon completion. To look up the return data for this job later, run the following command:\\n\\nsalt-run jobs.lookup_jid 20261123171219225227'
const RETURNS: Reply = {
  status: 200,
  body: `{"return": [{"gpu01.example.org": {"test.ping": true, "test.version": "3008.5", "pkg.version": {"slurmd": "", "slurm-smd-slurmd": "", "slurm-slurmd": ""}}, "gpu05": "${NOT_RETURNED}", "gpu10": {"test.ping": true, "test.version": "3006.9", "pkg.version": {"slurmd": "22.05.8-4+deb12u2", "slurm-smd-slurmd": "", "slurm-slurmd": ""}}, "gpu11": {"test.ping": true, "test.version": "3008.5", "pkg.version": {"slurmd": "1:23.11.4-1", "slurm-smd-slurmd": "", "slurm-slurmd": ""}}}]}`,
}

// One minion executes the job; the others have returned.
const FOUND: Reply = {
  status: 200,
  body: '{"return": [{"gpu02": {}, "gpu03": {}, "gpu01": {"tgt_type": "list", "jid": "20261123201500123456", "tgt": ["gpu01"], "pid": 812, "ret": "", "user": "muster", "arg": ["slurm.node"], "fun": "state.apply"}}]}',
}
const JID = '20261123201500123456'
const NO_JOB: Reply = {
  status: 200,
  body: `{"return": [{"jid": "${JID}", "Error": "Cannot contact returner or no job with this jid", "StartTime": "2026, Nov 23 20:15:00.123456", "Result": {}}]}`,
}
const STARTED: Reply = { status: 200, body: `{"return": [{"jid": "${JID}", "minions": ["gpu01", "gpu02", "gpu03"]}]}` }
const JOB: Reply = {
  status: 200,
  body: `{"return": [{"jid": "${JID}", "Function": "state.apply", "Arguments": ["slurm.node", {"__kwarg__": true, "pillar": {"a": 1}, "queue": 20}], "Target": ["gpu01", "gpu02", "gpu03"], "Target-type": "list", "User": "muster", "Minions": ["gpu01", "gpu02", "gpu03"], "StartTime": "2026, Nov 23 20:15:00.123456", "Result": {"gpu02": {"return": ["Rendering SLS 'base:slurm.node' failed: Jinja variable 'nothing' is undefined; line 2"], "retcode": 1, "success": false, "out": "highstate"}, "gpu01": {"return": {"test_|-repository_|-repository_|-nop": {"name": "repository", "changes": {}, "result": true, "comment": "Success!", "__sls__": "slurm.node", "__run_num__": 0, "start_time": "20:11:37.183733", "duration": 8.566, "__id__": "repository"}, "test_|-packages_|-packages_|-nop": {"name": "packages", "changes": {}, "result": true, "comment": "Success!", "__sls__": "slurm.node", "__run_num__": 1, "start_time": "20:11:37.192587", "duration": 0.213, "__id__": "packages"}}, "retcode": 0, "success": true, "out": "highstate"}, "gpu03": {"return": {"test_|-repository_|-repository_|-fail_without_changes": {"name": "repository", "changes": {}, "result": false, "comment": "Failure!", "__sls__": "slurm.node", "__run_num__": 0, "start_time": "20:11:36.790471", "duration": 0.505, "__id__": "repository"}, "test_|-packages_|-packages_|-nop": {"changes": {}, "result": false, "duration": 0.006, "start_time": "20:11:36.791247", "comment": "One or more requisite failed: slurm.node.repository", "__state_ran__": false, "__run_num__": 1, "__sls__": "slurm.node", "__id__": "packages", "name": "packages"}}, "retcode": 2, "success": false, "out": "highstate"}}}]}`,
}

let folder: string
let server: Server
let port: number
let caCertificate: string
let respond: (seen: Seen) => Reply | null
const seen: Seen[] = []
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'muster-salt-'))
  const make =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=salt.test -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem'
  execFileSync('openssl', make.split(' '), { cwd: folder, stdio: 'ignore' })
  caCertificate = readFileSync(path.join(folder, 'cert.pem'), 'utf8')
  server = createServer({ cert: caCertificate, key: readFileSync(path.join(folder, 'key.pem')) }, (request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      const one = { url: request.url!, token: request.headers['x-auth-token'] as string | undefined, body: JSON.parse(text) }
      seen.push(one)
      const reply = respond(one)
      if (reply) response.writeHead(reply.status, reply.headers).end(reply.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  seen.length = 0
})

const PASSWORD = 'correct horse'
const client = ({ ca = caCertificate as string | null, timeoutMs = 5000, localTargets = LOOPBACK, at = port } = {}) =>
  createSaltClient(
    { login: { host: '127.0.0.1', port: at, username: 'muster', password: PASSWORD }, eauth: 'pam', caCertificate: ca },
    { localTargets, timeoutMs, signal: new AbortController().signal },
  )
/** Answers as the recorded server, with a token that it accepts. */
const recorded =
  (token = 't1') =>
  ({ url, token: given, body }: Seen): Reply =>
    url === '/login' ? login(token) : given !== token ? NO_TOKEN : body[0]!.client === 'wheel' ? KEYS : RETURNS
const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'succeeded',
    (error: Error & { code: string }) => `${error.code} ${error.message}`,
  )

describe('recorded responses of salt-api', () => {
  it('signs in once and reports each minion', async () => {
    respond = recorded()
    const names = ['gpu01', 'gpu02', 'gpu03', 'gpu04', 'gpu05', 'gpu06', 'gpu10', 'gpu11', 'gpu1']
    const found = await checkMinions(client(), names, '22.05.8')
    const text = (name: string) => found.get(name)!.map((check) => `${check.name} ${check.state}: ${check.message}`)
    expect(text('gpu01')).toEqual([
      'salt-key OK: gpu01.example.org is accepted',
      'salt-minion OK: gpu01.example.org is connected, version 3008.5',
      'slurm-package OK: not installed',
    ])
    expect(text('gpu02')).toEqual(['salt-key FAILED: the key of gpu02 is not accepted; accept it with `salt-key -a gpu02`'])
    expect(text('gpu03')[0]).toMatch(/^salt-key FAILED: the key of gpu03 is rejected/)
    expect(text('gpu04')[0]).toMatch(/^salt-key FAILED: the key of gpu04 is denied/)
    expect(text('gpu05')[1]).toMatch(/^salt-minion FAILED: gpu05 does not return; start salt-minion/)
    expect(text('gpu06')[0]).toMatch(/^salt-key FAILED: the master knows no minion gpu06 or gpu06\.DOMAIN/)
    expect(text('gpu1')[0]).toMatch(/^salt-key FAILED: the master knows no minion gpu1 /)
    expect(text('gpu10')[2]).toBe('slurm-package OK: slurmd 22.05.8-4+deb12u2 is installed')
    expect(text('gpu11')[2]).toMatch(/^slurm-package FAILED: slurmd 1:23\.11\.4-1 is newer than the controller's 22\.05/)
    expect(seen.map(({ url }) => url)).toEqual(['/login', '/', '/'])
    expect(seen[0]!.body).toEqual({ username: 'muster', password: PASSWORD, eauth: 'pam' })
    expect(seen[2]!.body[0]).toMatchObject({ client: 'local', tgt: ['gpu01.example.org', 'gpu05', 'gpu10', 'gpu11'] })
  })

  it('rejects a name that several minions have', async () => {
    respond = recorded()
    const keys = { accepted: ['gpu01.a', 'gpu01.b'], pending: [], rejected: [], denied: [], time: '' }
    const salt = { ...client(), listKeys: async () => keys }
    const found = await checkMinions(salt, ['gpu01'], null)
    expect(found.get('gpu01')![0]!.message).toMatch(/several minions of this name: gpu01\.a, gpu01\.b/)
  })

  it('starts a state under the given job ID, and reads what each minion returned', async () => {
    const salt = client()
    const minions = ['gpu01', 'gpu02', 'gpu03']
    let job = NO_JOB
    respond = ({ url, body }) =>
      url === '/login' ? login('t1') : body[0]!.client === 'local_async' ? STARTED : body[0]!.client === 'runner' ? job : FOUND
    expect(await salt.readJob(JID)).toBeNull()
    await salt.applyState(minions, JID, { name: 'slurm.node', pillar: { a: 1 } })
    expect(seen.at(-1)!.body[0]).toEqual({
      ...{ client: 'local_async', fun: 'state.apply', tgt: minions, tgt_type: 'list', jid: JID },
      ...{ arg: ['slurm.node'], kwarg: { pillar: { a: 1 }, queue: 20 } },
    })
    await expect(salt.applyState(minions, '20261123201500123457', { name: 'x', pillar: {} })).rejects.toThrow(
      /started no job for x/,
    )
    job = JOB
    const returns = (await salt.readJob(JID))!
    const results = minions.map((id) => readStateResult('slurm.node', returns.get(id)))
    expect(results.map(({ failure }) => failure)).toEqual([
      null,
      "Salt cannot apply slurm.node: Rendering SLS 'base:slurm.node' failed: Jinja variable 'nothing' is undefined; line 2",
      'Salt could not apply slurm.node. repository: Failure!',
    ])
    expect(results[0]!.findings[1]).toEqual({ name: 'slurm.node packages', state: 'OK', message: 'Success!' })
    expect([...(await salt.runningMinions(minions, JID))]).toEqual(['gpu01'])
    respond = ({ url }) => (url === '/login' ? login('t1') : NO_PERMISSION)
    expect(await failure(salt.readJob(JID))).toMatch(/does not allow muster to use @runner: jobs\.list_job; add it/)
    expect(await failure(salt.applyState(minions, JID, { name: 'slurm.node', pillar: {} }))).toMatch(
      /to use state\.apply; add it/,
    )
  })

  it('signs in again after the token expired', async () => {
    const salt = client()
    respond = recorded('t1')
    await salt.listKeys()
    respond = recorded('t2')
    expect(await salt.listKeys()).toMatchObject({ pending: ['gpu02'] })
    expect(seen.map(({ url }) => url)).toEqual(['/login', '/', '/', '/login', '/'])
  })

  it('names the server, its state and the next step', async () => {
    const url = `https://127.0.0.1:${port}`
    respond = () => NO_LOGIN
    expect(await failure(client().listKeys())).toBe(
      `CONFLICT The salt-api ${url} rejects the login of muster; check the password of the credential, and external_auth of the master for pam.`,
    )
    respond = (request) => (request.url === '/login' ? login('t1') : NO_PERMISSION)
    expect(await failure(client().listKeys())).toMatch(
      /does not allow muster to use @wheel: key\.list_all; add it to external_auth/,
    )
    expect(await failure(client().call(['gpu01'], [{ name: 'test.ping' }]))).toMatch(/to use test\.ping; add it/)
    respond = () => ({ status: 302, body: '', headers: { location: 'https://127.0.0.1:1/' } })
    expect(await failure(client().listKeys())).toMatch(/^CONFLICT .* redirects/)
    respond = () => ({ status: 500, body: `the private page with ${PASSWORD}` })
    expect(await failure(client().listKeys())).toMatch(/^UNAVAILABLE .* responds with 500; check that salt-api/)
    respond = () => ({ status: 200, body: `<html>${PASSWORD}` })
    const other = await failure(client().listKeys())
    expect(other).toMatch(/responds with 200, and not as salt-api does/)
    expect(other).not.toContain(PASSWORD)
    respond = () => null
    expect(await failure(client({ timeoutMs: 50 }).listKeys())).toMatch(/^UNAVAILABLE .* did not respond within 0\.05 s/)
    expect(await failure(client({ at: 1 }).listKeys())).toMatch(/^UNAVAILABLE .*cannot be reached \(ECONNREFUSED\)/)
  })

  it('sends nothing to a server with another certificate, or at a local address that is not listed', async () => {
    respond = recorded()
    expect(await failure(client({ ca: null }).listKeys())).toMatch(/presents an untrusted certificate/)
    expect(await failure(client({ localTargets: [] }).listKeys())).toMatch(
      /is rejected\. .*list 127\.0\.0\.1:\d+ in LOCAL_TARGETS/,
    )
    expect(seen).toEqual([])
  })
})
