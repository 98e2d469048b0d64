import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createCredential } from '@muster/core/credentials'
import { schema } from '@muster/core/registry'
import { cancelJobRun, compareWithPrevious, retryJobRun, runJob, runMatrices } from '@muster/core/runs'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { pinnedKey } from '../testing/node-access.ts'
import { createOnboardedLab, type OnboardedLab } from '../testing/onboarded-lab.ts'
import { spawnRunWorker } from '../testing/spawn-run-worker.ts'
import { noIsolation } from './isolation/isolation.ts'
import { findProcesses } from './process/processes.ts'
import { removeAbandonedRuns } from './run-directory/run-directory.ts'

let fixture: OnboardedLab
let names: { key: string; password: string; locked: string; behind: string }
beforeAll(async () => {
  fixture = await createOnboardedLab()
  const open = fixture.lab.nodes.filter((node) => !node.behindBastion).map((node) => node.name)
  names = {
    key: open[0]!,
    password: open[1]!,
    locked: open[2]!,
    behind: fixture.lab.nodes.find((node) => node.behindBastion)!.name,
  }
})
afterAll(() => fixture.close())
// No test may leave files or processes of a run on this machine.
afterEach(async () => {
  expect(readdirSync(fixture.config.ANSIBLE_WORK_DIR)).toEqual([])
  expect(await findProcesses(fixture.config.ANSIBLE_WORK_DIR)).toEqual([])
})

const four = () => [names.key, names.password, names.locked, names.behind]
const resultsOf = (hosts: { name: string; result: string }[]) => Object.fromEntries(hosts.map((host) => [host.name, host.result]))
/** Processes on the node with `text` in their command line. */
const remaining = async (node: string, text: string) =>
  (
    await fixture.lab
      .node(node)
      .exec([
        'sh',
        '-c',
        `for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -F '${text}' | grep -v grep; done; true`,
      ])
  ).stdout

const PLAY = '- hosts: all\n  gather_facts: false\n  tasks:\n'

test('signs in by key, key with passphrase, password with sudo password, and through a bastion', async () => {
  const { done } = await fixture.start({ template: 'connectivity_check', limit: 'all', become: true })
  const { run, hosts, events, log } = await done
  expect(log).toContain('PLAY RECAP')
  expect(hosts.map((host) => [host.name, host.result, host.message])).toEqual(
    fixture.lab.nodes.map((node) => [node.name, 'OK', null]).sort(),
  )
  expect(run).toMatchObject({ status: 'SUCCEEDED', exitCode: 0, hostsOk: 8 })
  expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1))
  const ok = events.filter((event) => event.kind === 'ok')
  expect(ok.length).toBeGreaterThanOrEqual(8)
  expect(ok.every((event) => event.durationMs! > 0 && event.stdout!.includes('ok: ['))).toBe(true)
  expect(run.ansibleStartedAt!.getTime()).toBeGreaterThanOrEqual(run.startedAt!.getTime())
})

test('does not evaluate extra vars, and hides no_log results and the become password', async () => {
  const template = await fixture.template(
    'vars',
    `${PLAY}    - debug: {msg: "{{ motd }} {{ nested }}"}
    - command: id -un
      register: who
    - assert: {that: [who.stdout == 'root']}
    - copy: {content: "{{ hidden }}", dest: /run/hidden}
      no_log: true
    - debug: {var: ansible_become_password}
`,
  )
  const trace = join(fixture.config.ANSIBLE_WORK_DIR, '..', 'was-here')
  const evil = `{{ lookup('pipe', 'touch ${trace}') }}`
  const { done } = await fixture.start({
    template,
    limit: names.password,
    become: true,
    extraVars: {
      motd: evil,
      nested: { [evil]: [evil, 1e21, 0.5, -3, true, null, '\u0085\u2028é😀'] },
      hidden: 'not to be shown',
    },
  })
  const { run, log, events } = await done
  expect(log).toContain("lookup('pipe'")
  expect(run.status).toBe('SUCCEEDED')
  const shown = events.find((event) => event.kind === 'ok' && event.action?.endsWith('debug'))!.result as { msg: string }
  expect(shown.msg).toContain("lookup('pipe'")
  expect(shown.msg).toContain('1e+21, 0.5, -3')
  expect(log + JSON.stringify(events)).not.toContain('not to be shown')
  expect(JSON.stringify(events)).toContain('censored')
  expect(log + JSON.stringify(events)).not.toContain(fixture.lab.credentials.sudoPassword!.password)
  expect(JSON.stringify(events)).toContain('***')
  expect(existsSync(trace)).toBe(false)
})

test('a run with an unreachable and a failing host is PARTIAL and updates the nodes', async () => {
  await fixture.lab.fault(names.key, 'port-closed')
  const template = await fixture.template(
    'partial',
    `${PLAY}    - command: /bin/true\n    - command: /bin/false\n      when: inventory_hostname == '${names.locked}'\n`,
  )
  try {
    const { done } = await fixture.start({ template, limit: four().join(',') })
    const { run, hosts } = await done
    expect(resultsOf(hosts)).toEqual({
      [names.key]: 'UNREACHABLE',
      [names.password]: 'CHANGED',
      [names.locked]: 'FAILED',
      [names.behind]: 'CHANGED',
    })
    expect(run).toMatchObject({ status: 'PARTIAL', hostsOk: 2, hostsFailed: 1, hostsUnreachable: 1 })
  } finally {
    await fixture.lab.heal()
  }
})

test('a cancel during a task leaves no process on the worker or the nodes', async () => {
  const template = await fixture.template('sleep', `${PLAY}    - name: Sleep\n      shell: sleep 4711; echo done\n`)
  const { id, done } = await fixture.start({ template, limit: four().join(','), become: true })
  for (const name of four()) await expect.poll(() => remaining(name, 'sleep 4711')).not.toBe('')
  await cancelJobRun(fixture.operator, { id })
  const { run, hosts, log } = await done
  expect(run).toMatchObject({ status: 'CANCELED', interruptedHosts: four().sort() })
  expect(hosts.every((host) => host.currentTask === 'Sleep')).toBe(true)
  expect(log).toContain('In the middle of a task')
  for (const name of four()) expect([name, await remaining(name, 'sleep 4711')]).toEqual([name, ''])
})

test('a timeout during a task leaves no process on the node', async () => {
  const template = await fixture.template('sleep2', `${PLAY}    - name: Sleep\n      command: sleep 4712\n`)
  const { done } = await fixture.start({ template, limit: names.key, timeoutSeconds: 10 })
  const { run } = await done
  expect(run).toMatchObject({ status: 'TIMED_OUT', interruptedHosts: [names.key] })
  expect(await remaining(names.key, 'sleep 4712')).toBe('')
})

test('a node that reboots during a task is unreachable; the others continue', async () => {
  const template = await fixture.template(
    'reboot',
    `${PLAY}    - command: "sleep {{ 4713 if inventory_hostname == '${names.locked}' else 1 }}"\n`,
  )
  const { done } = await fixture.start({ template, limit: `${names.key},${names.locked}` })
  await expect.poll(() => remaining(names.locked, 'sleep 4713')).not.toBe('')
  await fixture.lab.fault(names.locked, 'reboot')
  const { run, hosts } = await done
  expect(resultsOf(hosts)).toEqual({ [names.key]: 'CHANGED', [names.locked]: 'UNREACHABLE' })
  expect(run.status).toBe('PARTIAL')
  await fixture.lab.heal()
})

test('rejects a changed host key and requests a connection test, which raises the alarm', async () => {
  await fixture.lab.fault(names.key, 'changed-host-key')
  try {
    const { done } = await fixture.start({ template: 'connectivity_check', limit: names.key })
    const { run, hosts } = await done
    expect(run.status).toBe('FAILED')
    expect(hosts[0]).toMatchObject({ result: 'UNREACHABLE' })
    expect(hosts[0]!.message).toMatch(/HOST IDENTIFICATION HAS CHANGED|verification failed/)
    const tests = await fixture.runtime.db
      .select()
      .from(schema.connectionTests)
      .where(eq(schema.connectionTests.nodeId, fixture.nodeIds.get(names.key)!))
    expect(tests).toHaveLength(1)
  } finally {
    await fixture.lab.heal()
  }
})

test('reports rejected sudo and missing Python with the reason', async () => {
  await fixture.lab.fault(names.key, 'sudo-denied')
  await fixture.lab.fault(names.locked, 'no-python')
  try {
    const { done } = await fixture.start({ template: 'connectivity_check', limit: `${names.key},${names.locked}`, become: true })
    const { run, hosts } = await done
    expect(run.status).toBe('FAILED')
    const messages = Object.fromEntries(hosts.map((host) => [host.name, host.message]))
    expect(messages[names.key]).toMatch(/sudo/i)
    expect(messages[names.locked]).toMatch(/python|interpreter/i)
  } finally {
    await fixture.lab.heal()
  }
})

test('handles 10 MB of output in one task and in one line', async () => {
  const template = await fixture.template(
    'big',
    `${PLAY}    - shell: "head -c 7500000 /dev/zero | base64"\n    - shell: "head -c 10000000 /dev/zero | tr '\\\\0' x"\n`,
  )
  const { done } = await fixture.start({ template, limit: names.key, verbosity: 1 })
  const { run, events } = await done
  expect(run.status).toBe('SUCCEEDED')
  const results = events.filter((event) => event.kind === 'ok')
  expect(results).toHaveLength(2)
  for (const event of results) {
    expect(event.result).toMatchObject({ _muster_truncated: true, rc: 0 })
    expect(JSON.stringify(event.result).length).toBeLessThan(64 * 1024)
    expect(event.stdout!.length).toBeLessThan(300 * 1024)
  }
})

test('collect_facts stores the probe result with the node and not in the log', async () => {
  const { done } = await fixture.start({ template: 'collect_facts', limit: 'all' })
  const { run, events, log } = await done
  expect(log).toContain('PLAY RECAP')
  expect(run.status).toBe('SUCCEEDED')
  expect(JSON.stringify(events)).not.toContain('muster_probe_output')
  const counts: Record<string, number> = {}
  for (const row of await fixture.runtime.db.select().from(schema.accelerators))
    counts[row.deviceType] = (counts[row.deviceType] ?? 0) + 1
  const expected: Record<string, number> = {}
  for (const node of fixture.lab.nodes)
    for (const [kind, n] of Object.entries(node.accelerators)) expected[kind] = (expected[kind] ?? 0) + n
  expect(counts).toEqual(expected)
})

test('runs playbooks of a directory without plugins, modules and the probe', async () => {
  const task = '    - name: Hello\n      command: echo hello\n      changed_when: false\n'
  const template = await fixture.template('only-a-playbook', `${PLAY}${task}`)
  expect(existsSync(join(fixture.config.ANSIBLE_PLAYBOOK_REPO_PATH!, 'plugins'))).toBe(false)
  for (const name of [template, 'collect_facts']) {
    const { run, hosts, events } = await (await fixture.start({ template: name, limit: four().join(','), become: true })).done
    expect(run).toMatchObject({ status: 'SUCCEEDED', hostsOk: 4 })
    expect(Object.values(resultsOf(hosts))).toEqual(['OK', 'OK', 'OK', 'OK'])
    expect(events.filter((event) => event.kind === 'ok')).toHaveLength(4)
  }
})

test('after a worker is killed during a task, the next one kills its processes on the worker and the nodes', async () => {
  const template = await fixture.template('sleep3', `${PLAY}    - name: Sleep\n      command: sleep 4714\n`)
  const names2 = [names.key, names.behind]
  const run = await runJob(fixture.operator, { template, limit: names2.join(','), become: true })
  const killed = await spawnRunWorker(fixture, run.id)
  for (const name of names2) await expect.poll(() => remaining(name, 'sleep 4714')).not.toBe('')
  await killed.kill()
  expect(await removeAbandonedRuns(fixture.config.ANSIBLE_WORK_DIR, fixture.runtime.log, fixture.isolation)).toBe(1)
  for (const name of names2) expect([name, await remaining(name, 'sleep 4714')]).toEqual([name, ''])
})

test('ansible-playbook does not outlive its worker', async () => {
  const template = await fixture.template('sleep5', `${PLAY}    - name: Sleep\n      command: sleep 4715\n`)
  const run = await runJob(fixture.operator, { template, limit: names.key })
  const killed = await spawnRunWorker(fixture, run.id)
  await expect.poll(() => remaining(names.key, 'sleep 4715')).not.toBe('')
  const here = async () =>
    (await findProcesses(fixture.config.ANSIBLE_WORK_DIR)).filter(({ name }) => !['ssh', 'bwrap'].includes(name))
  expect(await here()).not.toEqual([])
  await killed.kill()
  // No other worker has cleaned up yet.
  await expect.poll(async () => (await here()).length).toBe(0)
  expect(await removeAbandonedRuns(fixture.config.ANSIBLE_WORK_DIR, fixture.runtime.log, fixture.isolation)).toBe(1)
  expect(await remaining(names.key, 'sleep 4715')).toBe('')
})

test('becomes root with su and its password, and runs on a local node', async () => {
  const { sshPassword, rootPassword } = fixture.lab.credentials
  const login = await createCredential(fixture.admin, { name: 'ops by password', kind: 'SSH_PASSWORD', ...sshPassword! })
  const su = await createCredential(fixture.admin, {
    name: 'su',
    kind: 'BECOME',
    becomeMethod: 'su',
    username: 'root',
    password: rootPassword!.password,
  })
  const node = fixture.lab.node(names.key)
  const base = { tenantId: fixture.tenant.id, readyAt: new Date() }
  await fixture.runtime.db.insert(schema.computeNodes).values([
    {
      ...base,
      name: 'by-su',
      host: node.host,
      port: node.port,
      hostKey: pinnedKey(node),
      credentialId: login.id,
      becomeCredentialId: su.id,
    },
    { ...base, name: 'here', host: 'localhost', connectionType: 'local' },
  ])
  const template = await fixture.template(
    'who',
    `${PLAY}    - command: id -un\n      register: who\n    - assert: {that: [who.stdout == 'root']}\n`,
  )
  // An isolated playbook could not change this machine.
  const { isolation } = fixture
  fixture.isolation = noIsolation(null)
  const { done } = await fixture.start({ template, limit: 'by-su,here', become: true })
  const { hosts, log } = await done
  fixture.isolation = isolation
  expect(hosts.map((host) => [host.name, host.result, host.message])).toEqual([
    ['by-su', 'CHANGED', null],
    ['here', 'CHANGED', null],
  ])
  expect(log).toContain('RECAP')
})

test('a cancel kills processes that became root with su', async () => {
  // Uses the node and credentials of the previous test.
  const template = await fixture.template('sleep6', `${PLAY}    - name: Sleep\n      command: sleep 4716\n      become: true\n`)
  const { id, done } = await fixture.start({ template, limit: 'by-su' })
  await expect.poll(() => remaining(names.key, 'sleep 4716')).not.toBe('')
  await cancelJobRun(fixture.operator, { id })
  expect((await done).run).toMatchObject({ status: 'CANCELED', interruptedHosts: ['by-su'] })
  expect(await remaining(names.key, 'sleep 4716')).toBe('')
})

const SECOND_PLAY = '- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: {msg: second}\n'
const rolling = `${PLAY}    - command: "{{ 'false' if inventory_hostname in failing | default([]) else 'true' }}"\n`
const three = () => [names.key, names.password, names.locked].sort()

test('serial applies to plays that do not set it', async () => {
  const template = await fixture.template('rolling', `${rolling}${SECOND_PLAY}`)
  const { done } = await fixture.start({ template, limit: three().join(','), serial: [1, '60%'] })
  const { run, events } = await done
  expect(run).toMatchObject({ status: 'SUCCEEDED', serial: '1,60%' })
  const batches: string[][] = []
  for (const { kind, host } of events)
    if (kind === 'play_start') batches.push([])
    else if (kind === 'ok') batches.at(-1)!.push(host!)
  const [first, second, third] = three()
  expect(batches.map((batch) => batch.sort())).toEqual([[first], [second], [third], [first], [second], [third]])
})

test('max_fail_percentage ends a rolling run before later batches', async () => {
  const template = await fixture.template('rolling-badly', rolling)
  const options = { template, limit: three().join(','), serial: 2, extraVars: { failing: three().slice(0, 1) } }
  const stopped = await (await fixture.start({ ...options, maxFailPercentage: 40 })).done
  expect(stopped.run).toMatchObject({ status: 'PARTIAL', hostsOk: 1, hostsFailed: 1 })
  expect(stopped.hosts.map((host) => host.result)).toEqual(['FAILED', 'CHANGED', 'NOT_RUN'])
  const went = await (await fixture.start({ ...options, maxFailPercentage: 50 })).done
  expect(went.hosts.map((host) => host.result)).toEqual(['FAILED', 'CHANGED', 'CHANGED'])
})

test('a retry runs on the unreachable host only, and the comparison reports it as fixed', async () => {
  const template = await fixture.template('retried', rolling)
  await fixture.lab.fault(names.key, 'port-closed')
  const options = { template, limit: `${names.key},${names.locked}` }
  const { run } = await (await fixture.start(options)).done.finally(() => fixture.lab.heal())
  expect(run).toMatchObject({ status: 'PARTIAL', hostsUnreachable: 1 })
  const retry = await retryJobRun(fixture.operator, { id: run.id, hosts: ['UNREACHABLE'] })
  const retried = await fixture.execute(retry.id)
  expect(retried.run).toMatchObject({ status: 'SUCCEEDED', parentRunId: run.id, attempt: 2, hostsTotal: 1 })
  expect(resultsOf(retried.hosts)).toEqual({ [names.key]: 'CHANGED' })
  expect((await compareWithPrevious(fixture.viewer, [retried.run.id])).get(retried.run.id)).toMatchObject({
    previousId: run.id,
    fixed: [names.key],
  })
  const [task] = (await runMatrices(fixture.viewer, [run.id])).get(run.id)!
  expect(new Map(task!.cells.map((cell) => [cell.result, cell.hosts]))).toEqual(
    new Map([
      ['UNREACHABLE', [names.key]],
      ['CHANGED', [names.locked]],
    ]),
  )
})

test('tags select tasks', async () => {
  const template = await fixture.template(
    'tagged',
    `${PLAY}    - debug: {msg: one}\n      tags: [one]\n    - debug: {msg: two}\n      tags: [two]\n    - debug: {msg: three}\n      tags: [one, three]\n`,
    { jobTags: ['two'] },
  )
  const shown = async (input: object) => {
    const { events } = await (await fixture.start({ template, limit: names.key, ...input })).done
    return events.flatMap((event) => (event.kind === 'ok' ? [(event.result as { msg: string }).msg] : []))
  }
  expect(await shown({})).toEqual(['two'])
  expect(await shown({ jobTags: ['one'], skipTags: ['three'] })).toEqual(['one'])
})

test('a canceled rolling run reports its completed hosts', async () => {
  const [first, second] = [names.key, names.password].sort() as [string, string]
  const template = await fixture.template(
    'rolling-long',
    `${PLAY}    - command: "sleep {{ 60 if inventory_hostname == '${second}' else 0 }}"\n`,
  )
  const { id, done } = await fixture.start({ template, limit: `${first},${second}`, serial: 1 })
  const working = async () => (await fixture.read(id)).hosts.find((host) => host.name === second)!
  await expect.poll(async () => (await working()).currentTask).not.toBeNull()
  expect(Math.abs(Date.now() - (await working()).currentTaskAt!.getTime())).toBeLessThan(60_000)
  await cancelJobRun(fixture.operator, { id })
  const { run, hosts } = await done
  expect(run).toMatchObject({ status: 'CANCELED', hostsOk: 1, hostsFailed: 0, interruptedHosts: [second] })
  expect(resultsOf(hosts)).toEqual({ [first]: 'CHANGED', [second]: 'INTERRUPTED' })
})
