import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Product, startProduct } from '@muster/bench/product'
import type { Lab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { nodeEnvironment } from '../../../packages/core/src/testing/index.ts'
import { muster as runInProcess } from './testing/muster.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

let home: string
let product: Product
let lab: Lab

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'muster-cli-'))
  for (const name of ['HOME', 'XDG_CONFIG_HOME']) vi.stubEnv(name, home)
  const nodes = [{ name: 'gpu-01', profile: 'h100x8' as const }, { name: 'cpu-01' }]
  ;[product, lab] = await Promise.all([
    startProduct({ JOB_CANCEL_GRACE_PERIOD: '3', LOCAL_TARGETS: '127.0.0.1:1' }),
    createLab({ nodes }),
  ])
  writeFileSync(join(home, 'key'), lab.credentials.sshKey.privateKey, { mode: 0o600 })
})

afterAll(async () => {
  vi.unstubAllEnvs()
  await product?.stop()
  rmSync(home, { recursive: true, force: true })
})

/** Starts `muster` as a process; returns its output so far and a promise of its end. */
function started(line: string, input = '') {
  const child = spawn(process.execPath, [MAIN, ...line.split(' ')], {
    env: { ...nodeEnvironment, HOME: home, XDG_CONFIG_HOME: home },
  })
  const printed = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (printed.out += chunk))
  child.stderr.on('data', (chunk) => (printed.err += chunk))
  child.stdin.end(input)
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, ...printed })),
  )
  return { child: child as ChildProcess, printed, ended }
}

let previous: Promise<unknown> = Promise.resolve()

/**
 * Runs `muster` to its end in this process, which takes a tenth of a start. Arguments are separated by spaces. Concurrent calls run one
 * after the other, because each replaces the standard streams.
 */
function muster(line: string, input = '', env: Record<string, string> = {}) {
  const run = previous.then(async () => {
    const before = { ...process.env }
    Object.assign(process.env, env)
    try {
      return await runInProcess(line.split(' '), input)
    } finally {
      for (const name of Object.keys(env)) {
        if (before[name] === undefined) delete process.env[name]
        else process.env[name] = before[name]
      }
    }
  })
  previous = run.catch(() => {})
  return run
}

describe('muster with a running product and lab', () => {
  it('signs in with the one-time link once', async () => {
    expect(await started('whoami').ended).toMatchObject({ code: 3, err: expect.stringContaining('muster login') })
    const link = `${product.url}/sign-in#token=${product.linkToken}`
    expect(await started(`login ${link} --installation-admin`).ended).toMatchObject({
      code: 0,
      err: expect.stringContaining('Signed in to'),
    })
    expect(JSON.parse((await started('whoami -o json').ended).out)).toMatchObject({ kind: 'API_TOKEN', role: 'admin' })
    expect(await muster(`login ${link}`)).toMatchObject({ code: 3, err: expect.stringContaining('already used') })
    const wrong = await started(`login ${product.url} --email owner@example.com --password-stdin`, 'not the password\n').ended
    expect(wrong).toMatchObject({ code: 3, out: '' })
  })

  it('reports errors by exit code and one line', async () => {
    const rejected = { MUSTER_TOKEN: 'mst_of_nobody' }
    const [usage, away, nobody, nodeNotFound, runNotFound, badKey] = await Promise.all([
      muster('node list --status tired'),
      muster('whoami', '', { MUSTER_URL: 'http://127.0.0.1:1' }),
      muster('logs -f 00000000-0000-4000-8000-000000000000', '', rejected),
      muster('node get nope'),
      muster('logs -f 00000000-0000-4000-8000-000000000000'),
      muster(`credential add bad --kind ssh-key -u ops --key-file ${MAIN}`),
    ])
    expect(usage).toMatchObject({ code: 2, err: expect.stringContaining('UNREACHABLE') })
    expect(away).toMatchObject({ code: 6, err: expect.stringContaining('http://127.0.0.1:1') })
    expect(nobody).toMatchObject({ code: 3, err: expect.stringContaining('muster login') })
    expect(nodeNotFound).toMatchObject({ code: 4, err: expect.stringContaining('muster node list') })
    expect(runNotFound).toMatchObject({ code: 4, err: expect.stringContaining('00000000-0000') })
    expect(badKey).toMatchObject({ code: 5, err: expect.stringContaining('privateKey') })
    for (const { err } of [usage, away, nobody, nodeNotFound, runNotFound, badKey]) expect(err).not.toMatch(/\n\s+at |\[object/)
  })

  it('adds nodes: credential, dry run, add, test, approve, test', async () => {
    const { username } = lab.credentials.sshKey
    expect(await muster(`credential add lab --kind SSH_KEY -u ${username} --key-file ${join(home, 'key')}`)).toMatchObject({
      code: 0,
    })
    const rows = lab.nodes.map((n) => `${n.name},${n.host},${n.port}`)
    const csv = ['name,host,port', ...rows].join('\n')
    const withBad = await muster('node add - --format csv -c lab --dry-run', `${csv}\nbad name,10.0.0.1,22\n`)
    expect(withBad).toMatchObject({ code: 5, err: '2 can be added, 1 rejected\n' })
    expect(await muster('node add - --format csv -c lab --tag room1', csv)).toMatchObject({ code: 0, err: '2 added\n' })

    const stopped = await muster('node test gpu-01,cpu-01')
    expect(stopped.code).toBe(1)
    const approvals = [...stopped.out.matchAll(/^ {2}muster (node approve (\S+) (SHA256:\S+))$/gm)]
    expect(new Map(approvals.map(([, , name, key]) => [name, key]))).toEqual(
      new Map(lab.nodes.map((n) => [n.name, n.hostKeyFingerprint])),
    )
    const approved = await Promise.all(approvals.map(([, command]) => muster(command!)))
    expect(approved.map((a) => a.code)).toEqual([0, 0])
    expect((await muster('node test gpu-01,cpu-01')).code).toBe(0)
    expect(await muster('node test gpu-01,cpu-1')).toMatchObject({
      code: 4,
      err: expect.stringContaining('No node named cpu-1.'),
    })
  })

  it.runIf(process.getuid?.() === 0)('rotates a credential on its nodes', async () => {
    expect(await muster('credential rotate lab')).toMatchObject({ code: 2, err: expect.stringMatching(/2 nodes: cpu-01,gpu-01/) })
    expect(await muster('credential rotate lab --yes')).toMatchObject({
      code: 0,
      out: '2 nodes accept only the new secret.\n',
      err: expect.stringContaining('SUCCEEDED: 2 of 2 nodes have the new secret, 0 failed'),
    })
    expect((await muster('credential test lab gpu-01')).code).toBe(0)
    expect(JSON.parse((await muster('credential rotate lab --status -o json')).out)).toMatchObject({
      status: 'SUCCEEDED',
      nodeCount: 2,
    })
    expect(await muster('credential rotate lab --resume')).toMatchObject({
      code: 5,
      err: expect.stringContaining('The rotation of lab is SUCCEEDED; only a PAUSED one can be resumed.'),
    })
  })

  it('tests, updates and deletes a credential, and rotates the key online', async () => {
    const { username } = lab.credentials.sshKey
    const added = await muster(`credential add spare --kind ssh-password -u ${username} --secret-stdin`, 'not the password\n')
    expect(added.code).toBe(0)
    const tried = await muster('credential test spare gpu-01')
    expect(tried).toMatchObject({ code: 1, out: expect.stringMatching(/gpu-01: FAILED[\s\S]*authentication/) })
    expect((await muster('credential update spare --description tried')).code).toBe(0)
    const got = JSON.parse((await muster('credential get spare -o json')).out)
    expect(got).toMatchObject({ description: 'tried', usedBy: [], lastResult: { isOk: false, error: expect.any(String) } })
    expect((await muster('credential get lab')).out).toMatch(/used as login +2: cpu-01,gpu-01\n[\s\S]*last test +ok, /)

    const rotated = await muster('credential rotate-key')
    expect(rotated).toMatchObject({
      code: 0,
      out: '2 of 2 secrets use key version 2.\nNo older version is in use.\n',
    })
    expect((await muster('credential test lab gpu-01')).code).toBe(0)
    expect(await muster('credential delete lab')).toMatchObject({ code: 5, err: expect.stringContaining('is used by the nodes') })
    expect((await muster('credential delete spare')).code).toBe(0)

    // With a secret store, the test runs on the worker, which reads the secret there.
    const store = 'secret-store add safe http://127.0.0.1:1 --auth app-role --role-id r --secret-stdin'
    expect((await muster(store, 'secret-id\n')).code).toBe(0)
    const stored = 'credential add stored --kind ssh-password -u ops --store safe --password-at nodes/gpu#password'
    expect((await muster(stored)).code).toBe(0)
    expect((await muster('credential get stored')).out).toMatch(/password +password of nodes\/gpu in safe\n/)
    expect(await muster('credential test stored gpu-01')).toMatchObject({
      code: 1,
      out: expect.stringContaining('The secret store safe (http://127.0.0.1:1) cannot be reached'),
    })
    expect(await muster('secret-store delete safe')).toMatchObject({ code: 5, err: expect.stringContaining('is used by stored') })
  })

  it('shows nodes, facts and differences', async () => {
    expect((await muster('node discover gpu-01,cpu-01')).out).toContain('gpu-01: 8 accelerators')
    const [list, json, get, facts, diff] = await Promise.all([
      muster('node list --tag room1'),
      muster('node list gpu-[01-02] --status ready -o json'),
      muster('node get gpu-01'),
      muster('node facts gpu-01 -o json'),
      muster('node diff cpu-01 gpu-01'),
    ])
    expect(list.out).toMatch(/^NAME +STATUS +HEALTH +ADDRESS +ACCELERATORS.*\n.*8x NVIDIA H100/s)
    expect(JSON.parse(json.out)).toMatchObject([{ name: 'gpu-01', status: 'READY', acceleratorSummary: [{ count: 8 }] }])
    expect(get.out.match(/NVIDIA H100/g)).toHaveLength(8)
    expect(JSON.parse(facts.out).os.id).toBeTypeOf('string')
    expect(diff).toMatchObject({ code: 1, out: expect.stringContaining('accelerator 0 added') })
  })

  it('sets variables in layers, explains a value and restores a version', async () => {
    expect((await muster('group create rack1')).code).toBe(0)
    expect((await muster('group add-nodes rack1 gpu-01')).code).toBe(0)
    expect(await muster('vars set -f -', '# clocks\nntp: 10.0.0.1\nmtu: 1500\n')).toMatchObject({ code: 0 })
    expect((await muster('vars set -g rack1 ntp=10.0.0.2 --reason moved')).err).toBe(
      'Saved the variables of group rack1: version 1.\n',
    )
    expect((await muster('vars secret token -g rack1 --stdin', 'never to be seen\n')).code).toBe(0)
    const impact = await muster('vars impact -f -', 'ntp: 10.0.0.9\nmtu: 1500\n')
    expect(impact.err).toBe('Changes values on 1 of 2 nodes of all nodes.\n')
    expect(impact.out).toMatch(/^ntp +1 +cpu-01: 10\.0\.0\.1 -> 10\.0\.0\.9$/m)
    expect((await muster('vars set ntp=10.0.0.3 --remove mtu')).code).toBe(0)
    expect((await muster('vars get')).out).toBe('# clocks\nntp: 10.0.0.3\n')
    const explained = await muster('vars explain gpu-01')
    expect(explained.out).toMatch(/^ntp +10\.0\.0\.2 +group rack1 +10\.0\.0\.3 \(global\)$/m)
    expect(explained.out).toMatch(/^token +\(secret\) +group rack1 +-$/m)
    expect((await muster('vars diff gpu-01 cpu-01')).out).toMatch(/^ntp +10\.0\.0\.2 \(group rack1\) +10\.0\.0\.3 \(global\)$/m)
    expect((await muster('vars history -g rack1')).out).toMatch(/^2 .* \+token +-\n1 .* \+ntp +moved$/m)
    expect((await muster('vars restore 1')).code).toBe(0)
    expect(JSON.parse((await muster('vars get -o json')).out)).toEqual({ ntp: '10.0.0.1', mtu: 1500 })
    writeFileSync(join(home, 'editor.mjs'), `import fs from 'node:fs'; fs.appendFileSync(process.argv[2], 'slot: 4\\n')`)
    const edited = await muster('vars edit -n gpu-01', '', { EDITOR: `${process.execPath} ${join(home, 'editor.mjs')}` })
    expect(edited).toMatchObject({ code: 0, err: expect.stringContaining('node gpu-01: version 1') })
    expect((await muster('vars merge deep')).out).toBe('deep\n')
    const wrong = await Promise.all([
      muster('vars set -f -', 'a: [1'),
      muster('vars set -g nope a=1'),
      muster('vars explain gpu-01 nope'),
      muster('vars secret token -g rack1 --unset'),
      muster('vars set ansible_connection=local'),
    ])
    expect(wrong.map((end) => end.code)).toEqual([5, 4, 4, 0, 5])
    expect(wrong[0].err).toMatch(/text: line 2, column 1: /)
  })

  it('runs a template and prints its log again', async () => {
    const run = await muster('run connectivity_check -l all -e note={{7*7}}')
    expect(run).toMatchObject({ code: 0, out: expect.stringContaining('PLAY RECAP') })
    expect(run.err).toMatch(/SUCCEEDED\n {2}ok +2 {2}cpu-01,gpu-01\n/)
    expect(await muster('logs last')).toMatchObject({ code: 0, out: run.out })
    const [template, limit, vars] = await Promise.all([
      muster('run nope -l all'),
      muster('run connectivity_check -l nope'),
      muster('run connectivity_check -l all -e ansible_connection=local'),
    ])
    expect([template.code, limit.code, vars.code]).toEqual([4, 5, 5])
  })

  it('downloads artifacts, pauses the queue and drains a worker', async () => {
    expect((await muster('artifact list last')).out).toMatch(/^log\.txt +log +\d/m)
    const [log, kept] = await Promise.all([muster('logs last --format text'), muster('artifact get last log.txt')])
    expect(kept).toMatchObject({ code: 0, out: expect.stringContaining('PLAY') })
    expect(kept.out).toBe(log.out)
    const file = join(home, 'deep/run.ndjson')
    expect((await muster(`logs last --format runner -o ${file}`)).code).toBe(0)
    const events = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(JSON.parse(events[0]!)).toMatchObject({ counter: 1, runner_ident: expect.any(String) })
    expect(await muster('artifact get last nothing')).toMatchObject({ code: 4, err: expect.stringContaining('artifact list') })

    expect((await muster('queue limit 2')).err).toContain('At most 2 concurrent runs')
    expect((await muster('queue limit none')).code).toBe(0)
    expect((await muster('queue pause --reason cooling')).code).toBe(0)
    expect((await muster('queue status')).out).toMatch(/^State +paused .*cooling$/m)
    expect((await muster('queue resume')).code).toBe(0)
    expect(await muster('queue resume')).toMatchObject({ code: 5, err: expect.stringContaining('not paused') })
    const [worker] = JSON.parse((await muster('worker list -o json')).out)
    expect((await muster(`worker drain ${worker.name}`)).code).toBe(0)
    expect((await muster('worker list')).out).toMatch(/ drained /)
    expect((await muster(`worker undrain ${worker.name}`)).code).toBe(0)
  })

  it('resumes following after a lost connection, stops at Ctrl-C, and reports a canceled run', async () => {
    await lab.fault('cpu-01', 'slow-shell', { seconds: 60 })
    const run = started('run collect_facts -l all')
    await expect.poll(() => run.printed.out).toContain('ok: [gpu-01]')
    const reader = started('logs -f last')
    await expect.poll(() => reader.printed.out).toBe(run.printed.out)
    reader.child.kill('SIGINT')
    expect(await reader.ended).toMatchObject({ code: 130, err: expect.stringContaining('The run continues') })

    await product.kill('api')
    await expect.poll(() => run.printed.err).toContain(' lost. Reconnecting')
    await product.start('api')
    await expect.poll(() => run.printed.err).toContain('Reconnected')
    await lab.heal() // The worker opens new shells to end the task, and slow ones would delay it.
    expect((await muster('cancel last')).code).toBe(0)
    const end = await run.ended
    expect(end).toMatchObject({ code: 12, err: expect.stringContaining('interrupted in a task: cpu-01') })
    expect((await muster('logs last')).out).toBe(end.out)
  })

  it('retries interrupted hosts and shows the result of each task', async () => {
    await lab.fault('cpu-01', 'slow-shell', { seconds: 60 })
    expect((await muster('run collect_facts -l cpu-01 -d')).code).toBe(0)
    let shown = ''
    while (!/^cpu-01 +RUNNING +\S.* (s|min) ago/m.test(shown)) shown = (await muster('runs get last')).out
    expect(shown).toMatch(/^status +RUNNING$/m)
    await lab.heal()
    expect((await muster('cancel last')).code).toBe(0)
    expect((await muster('logs -f last')).code).toBe(12)
    expect(JSON.parse((await muster('runs get last -o json')).out).hosts).toMatchObject([
      { name: 'cpu-01', result: 'INTERRUPTED' },
    ])
    const again = await muster('retry last --failed --reason again')
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining('on 1 node.') })
    expect((await muster('runs get last')).out).toMatch(/^attempt +2, of \d+$/m)
    expect((await muster('runs matrix last')).out).toMatch(/^Probe the node +OK +1 +\S+ +cpu-01 /m)
    expect((await muster('runs compare last')).out).toMatch(/^previous run +\d+ /m)
    expect(await muster('retry last')).toMatchObject({ code: 5, err: expect.stringContaining('All hosts of the run succeeded') })
    expect(await muster('runs failures')).toMatchObject({ code: 0 })
    expect(await muster('node unlock cpu-01 --reason hangs')).toMatchObject({
      code: 5,
      err: expect.stringContaining('No run has locked'),
    })
    const invalid = ['run collect_facts -l all --serial 0', 'run collect_facts -l all --max-fail-percentage 101']
    expect((await Promise.all(invalid.map((line) => muster(line)))).map((end) => end.code)).toEqual([5, 2])
    const key = 'run connectivity_check -l gpu-01 --serial 1,50% -d --idempotency-key k1'
    const [first, second] = [await muster(key), await muster(key)]
    expect(first).toMatchObject({ code: 0, out: second.out })
    expect((await muster('logs -f last')).code).toBe(0)
  })

  it('decommissions nodes and signs out', async () => {
    expect(await muster('node decommission cpu-01')).toMatchObject({ code: 0, out: 'cpu-01: DECOMMISSIONED\n' })
    expect(JSON.parse((await muster('runs -o json')).out).length).toBeGreaterThan(1)
    expect((await muster('logout')).code).toBe(0)
    expect((await muster('node list')).code).toBe(3)
  })
})
