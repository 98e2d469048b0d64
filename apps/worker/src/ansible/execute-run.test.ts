import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createCredential, createSecretStore } from '@muster/core/credentials'
import { setNodeMaintenance } from '@muster/core/node-states'
import { schema } from '@muster/core/registry'
import {
  cancelJobRun,
  endLostJobRuns,
  followJobRunEvents,
  type JobRunEvent,
  jobRunCancelRequested,
  runJob,
} from '@muster/core/runs'
import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRunFixture, type RunFixture } from '../testing/run-fixture.ts'
import { spawnRunWorker } from '../testing/spawn-run-worker.ts'
import { findProcesses } from './process/processes.ts'
import { removeAbandonedRuns } from './run-directory/run-directory.ts'

const FAKE = fileURLToPath(new URL('../testing/fake-ansible-playbook.mjs', import.meta.url))
const SECRET = `p"a's$s w/ör+d\\9=`

let fixture: RunFixture
beforeEach(async () => {
  fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: FAKE, JOB_CANCEL_GRACE_PERIOD: 1 })
  const key = await fixture.given.credential(fixture.admin, 'SSH_KEY')
  const password = await createCredential(fixture.admin, {
    name: 'login',
    kind: 'SSH_PASSWORD',
    username: 'ops',
    password: SECRET,
  })
  const become = await createCredential(fixture.admin, { name: 'become', kind: 'BECOME', password: 'become-me-please' })
  await fixture.given.fleet(fixture.admin, {
    nodes: 2,
    with: (i) => ({ credentialId: i === 0 ? key.id : password.id, becomeCredentialId: become.id }),
  })
})
afterEach(() => fixture.close())

const start = async (act: string, input: object = {}) =>
  fixture.start({ template: await fixture.template(act, ''), limit: 'all', ...input })
const waitUntilRunning = (id: string) =>
  expect.poll(async () => (await fixture.read(id)).hosts.every((host) => host.result === 'RUNNING')).toBe(true)
/** PID of the stray process that the fake ansible-playbook has started and printed. */
const strayOf = (id: string) =>
  vi.waitFor(async () => {
    const [, stray] = /stray (\d+)/.exec((await fixture.read(id)).log) ?? []
    if (!stray) throw new Error('the stray process has not started')
    return Number(stray)
  }, 120_000)
const expectGapFree = (events: JobRunEvent[]) => {
  expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1))
  let line = 1
  for (const event of events) {
    expect(event.startLine).toBe(line)
    line += event.lineCount
  }
}
const expectNothingLeft = async (id: string) => {
  expect(readdirSync(fixture.config.ANSIBLE_WORK_DIR)).toEqual([])
  expect(await findProcesses(`/run-${id.slice(-6)}`)).toEqual([])
}

describe('input of ansible-playbook', () => {
  test('contains no secret and no environment of the worker', async () => {
    process.env.MUSTER_TEST_LEAK = 'should not be seen'
    const { id, done } = await start('look', {
      extraVars: { motd: "{{ lookup('pipe', 'id') }}" },
      become: true,
      checkMode: true,
      verbosity: 2,
    })
    const { run, log } = await done
    expect(run.status).toBe('SUCCEEDED')
    const seen = JSON.parse(log.split('\n').find((line) => line.startsWith('{"args"'))!)
    const all = JSON.stringify(seen)
    for (const secret of [SECRET, 'become-me-please', 'PRIVATE KEY', 'should not be seen', process.env.TEST_DATABASE_URL!])
      expect(all).not.toContain(JSON.stringify(secret).slice(1, -1))
    expect(all).not.toContain('***')
    expect(Object.keys(seen.env).sort()).toEqual([
      'ANSIBLE_CONFIG',
      'ANSIBLE_HOME',
      'DISPLAY',
      'HOME',
      'LANG',
      'LC_ALL',
      'MUSTER_EVENTS_FD',
      'MUSTER_PROBE_SCRIPT',
      'MUSTER_RUN',
      'MUSTER_SOCKET',
      'PATH',
      'SSH_ASKPASS',
      'SSH_ASKPASS_REQUIRE',
      'TMPDIR',
    ])
    expect(seen.args).toEqual(expect.arrayContaining(['--become', '--check', '-vv', '--forks', '20']))
    expect(seen.modes.every((mode: number) => (mode & 0o077) === 0)).toBe(true)
    expect(seen.files['extra-vars.yml']).toContain(`{"motd": !unsafe "{{ lookup('pipe', 'id') }}", "muster_artifact_dir": `)
    expect(seen.files['inventory.yml']).toContain('StrictHostKeyChecking=yes')
    await expectNothingLeft(id)
  })

  test('reads secret stores once; rejects a host without its secret, with the reason', async () => {
    // A fake store; read-secret.test.ts uses a real one.
    const requests: string[] = []
    const store = createServer(({ url }, response) => {
      requests.push(url!)
      if (url !== '/v1/secret/data/there') response.writeHead(404)
      response.end(JSON.stringify({ data: { data: { password: 'kept-elsewhere' } } }))
    })
    await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(store.address() as AddressInfo).port}`
    const { id: secretStoreId } = await createSecretStore(fixture.admin, {
      name: 'safe',
      address,
      auth: 'TOKEN',
      secret: 'token',
    })
    for (const [name, path] of [
      ['gpu001', 'there'],
      ['gpu002', 'not/there'],
    ] as const) {
      const secretRefs = { password: { path, key: 'password' } }
      const { id } = await createCredential(fixture.admin, { name: path, kind: 'BECOME', secretStoreId, secretRefs })
      const { computeNodes } = schema
      await fixture.runtime.db.update(computeNodes).set({ becomeCredentialId: id }).where(eq(computeNodes.name, name))
    }
    const { hosts, log } = await (await start('look')).done
    store.close()
    expect(hosts.map(({ name, result }) => `${name} ${result}`)).toEqual(['gpu001 OK', 'gpu002 UNREACHABLE'])
    expect(log).toContain(`The secret store safe (${address}) has no secret at secret/not/there`)
    expect(log).not.toContain('kept-elsewhere')
    expect(requests.sort()).toEqual(['/v1/secret/data/not/there', '/v1/secret/data/there'])
  })
})

describe('output', () => {
  test('delivers 100,000 lines once and in order to all followers', async () => {
    const { id, done } = await start('flood')
    const follow = async (after: number) => {
      const events: JobRunEvent[] = []
      for await (const page of followJobRunEvents({ ...fixture.operator, listener: fixture.listener }, { id, after }))
        events.push(...page.events)
      return events
    }
    const [followed, repeated] = await Promise.all([follow(0), follow(0)])
    const { run, events } = await done
    expect(run.status).toBe('SUCCEEDED')
    expectGapFree(events)
    const lines = events.filter((event) => event.kind === 'output').flatMap((event) => event.stdout!.split('\n'))
    expect(lines).toEqual(Array.from({ length: 100_000 }, (_, i) => `line ${i + 1} of a flood`))
    expect(followed.map((event) => event.seq)).toEqual(events.map((event) => event.seq))
    expect(repeated).toEqual(followed)
  })

  test('loses and repeats nothing when database connections are cut during a flood', async () => {
    const { id, done } = await start('flood')
    const seen: number[] = []
    const following = (async () => {
      for await (const page of followJobRunEvents({ ...fixture.operator, listener: fixture.listener }, { id }))
        seen.push(...page.events.map((event) => event.seq))
    })()
    for (const reached of [100, 30_000, 60_000]) {
      await expect.poll(async () => (await fixture.read(id)).run.lastLine).toBeGreaterThanOrEqual(reached)
      await fixture.cutConnections()
    }
    const { run, events } = await done
    await following
    expect(run.status).toBe('SUCCEEDED')
    expectGapFree(events)
    expect(events.filter((event) => event.kind === 'output').reduce((sum, event) => sum + event.lineCount, 0)).toBe(100_000)
    expect(seen).toEqual(events.map((event) => event.seq))
  })

  test('masks secrets in every encoding, also when split', async () => {
    // The fake knows the password from a variable; a real playbook could have read it on the node.
    const { done } = await start('leak', { extraVars: { secret: SECRET } })
    const { run, events, log } = await done
    expect(run.status).toBe('SUCCEEDED')
    expect(log).toContain('the password is *** indeed')
    expect(log).toMatch(/^basic \S*\*\*\*\S* and \*\*\*$/m)
    const shown = events.find((event) => event.task === 'say ***')!
    expect(shown.result).toEqual({ stdout: '***', '***': ['{"secret":"***"}'] })
    expect(shown.stdout).toBe('ok: "***"')
    expect(log).toContain('y***')
    expect(JSON.stringify(events)).not.toContain(JSON.stringify(SECRET).slice(1, 8))
  })

  test('truncates results to 64 KiB and replaces unstorable characters', async () => {
    const { done } = await start('garbage')
    const { run, events } = await done
    expect(run.status).toBe('SUCCEEDED')
    const big = events.find((event) => event.task === 'big')!.result as Record<string, unknown>
    expect(big).toMatchObject({ _muster_truncated: true, rc: 0 })
    expect(JSON.stringify(big).length).toBeLessThan(64 * 1024)
    expectGapFree(events)
  })

  test('truncates an endless line', async () => {
    const { id, done } = await start('endless')
    await waitUntilRunning(id)
    await cancelJobRun(fixture.operator, { id })
    const { run, log } = await done
    expect(run.status).toBe('CANCELED')
    expect(log.length).toBeLessThan(64 * 1024)
  })
})

describe('end', () => {
  test('reports a crash before any host as an error', async () => {
    const { done } = await start('crash')
    const { run, hosts, log } = await done
    expect(run).toMatchObject({ status: 'ERROR', endCause: 'exit', exitCode: 4 })
    expect(run.error).toContain('code 4 before it reached any host')
    expect(log).toContain('ERROR! the playbook could not be found')
    expect(hosts.map((host) => host.result)).toEqual(['NOT_RUN', 'NOT_RUN'])
  })

  test('reports a missing ansible-playbook with the next step', async () => {
    fixture.config.ANSIBLE_PLAYBOOK = '/nowhere/ansible-playbook'
    const { id, done } = await start('crash')
    const { run } = await done
    expect(run.status).toBe('ERROR')
    expect(run.error).toContain('set ANSIBLE_PLAYBOOK')
    await expectNothingLeft(id)
  })

  test('cancel sends SIGINT and lists interrupted hosts', async () => {
    const { id, done } = await start('polite')
    await waitUntilRunning(id)
    const canceled = await cancelJobRun(fixture.operator, { id })
    expect(canceled.status).toBe('CANCELING')
    const { run, hosts, log } = await done
    expect(run).toMatchObject({ status: 'CANCELED', exitCode: 130, interruptedHosts: ['gpu001', 'gpu002'] })
    expect(run.cancelRequestedByName).toBe(fixture.operator.actor.name)
    expect(run).toMatchObject({ error: `Canceled by ${fixture.operator.actor.name}.`, hostsFailed: 0 })
    expect(hosts.map((host) => [host.result, host.currentTask])).toEqual([
      ['INTERRUPTED', 'work'],
      ['INTERRUPTED', 'work'],
    ])
    expect(log).toContain('In the middle of a task: gpu[001-002].')
    await expectNothingLeft(id)
  })

  test('cancel escalates to SIGTERM and SIGKILL and kills stray children', async () => {
    const { id, done } = await start('stubborn')
    await waitUntilRunning(id)
    const stray = await strayOf(id)
    await cancelJobRun(fixture.operator, { id })
    const { run, log } = await done
    expect(run).toMatchObject({ status: 'CANCELED', exitCode: 137, error: `Canceled by ${fixture.operator.actor.name}.` })
    expect(log).toMatch(/got SIGINT[\s\S]*got SIGTERM/)
    expect(isAlive(stray)).toBe(false)
    await expectNothingLeft(id)
  })

  test('cancel does not count a host between two tasks as done', async () => {
    const { id, done } = await start('between')
    await expect.poll(async () => (await fixture.read(id)).hosts[1]!.currentTask).toBe('more')
    expect((await fixture.read(id)).hosts[0]).toMatchObject({ result: 'RUNNING', currentTask: null, ok: 2, changed: 1 })
    await cancelJobRun(fixture.operator, { id })
    const { run, hosts } = await done
    expect(run).toMatchObject({ status: 'CANCELED', interruptedHosts: ['gpu002'], hostsOk: 0, hostsFailed: 0 })
    expect(hosts).toMatchObject([
      { result: 'INTERRUPTED', ok: 2, changed: 1, message: expect.stringContaining('before the result of this host was known') },
      { result: 'INTERRUPTED', currentTask: 'more' },
    ])
  })

  test('names the signal when something else killed ansible-playbook', async () => {
    const { run, hosts } = await (await start('killed')).done
    expect(run).toMatchObject({ status: 'FAILED', endCause: 'exit', exitCode: 137, interruptedHosts: ['gpu002'] })
    expect(run.error).toContain('signal 9 (SIGKILL)')
    expect(hosts.map((host) => host.result)).toEqual(['INTERRUPTED', 'FAILED'])
  })

  test('an escaped child that floods delays nothing, and a cancel after the exit changes nothing', async () => {
    const { id, done } = await start('escaped')
    const stray = await strayOf(id)
    const pid = Number(/stray \d+ of (\d+)/.exec((await fixture.read(id)).log)![1])
    await expect.poll(() => isAlive(pid)).toBe(false)
    await cancelJobRun(fixture.operator, { id })
    const { run } = await done
    expect(run).toMatchObject({ status: 'SUCCEEDED', endCause: 'exit', exitCode: 0 })
    expect(isAlive(stray)).toBe(false)
    await expectNothingLeft(id)
  })

  test('an unstorable event ends the run as an error', async () => {
    const { id, done } = await start('unstorable')
    const { run, hosts, log } = await done
    expect(run).toMatchObject({ status: 'ERROR', endCause: 'error' })
    expect(run.error).toContain('could not be stored')
    expect(hosts).toHaveLength(2)
    expect(log).toContain('Its log ends here.')
    await expectNothingLeft(id)
  })

  test('unstorable host counts do not prevent the end of the run', async () => {
    const { run } = await (await start('uncountable')).done
    expect(run.finishedAt).not.toBeNull()
  })

  test('stops at the timeout', async () => {
    const { id, done } = await start('polite', { timeoutSeconds: 5 })
    const { run } = await done
    expect(run).toMatchObject({ status: 'TIMED_OUT', interruptedHosts: ['gpu001', 'gpu002'] })
    expect(run.error).toContain('5 s')
    await expectNothingLeft(id)
  })

  test('after a lost claim, stops the run and writes nothing', async () => {
    const { id, done } = await start('polite')
    await waitUntilRunning(id)
    await fixture.runtime.db.update(schema.jobRuns).set({ claimToken: crypto.randomUUID() }).where(eq(schema.jobRuns.id, id))
    fixture.runtime.notify(jobRunCancelRequested({ id, tenantId: fixture.tenant.id }))
    const { run, events } = await done
    expect(run.status).toBe('RUNNING')
    expect(events.some((event) => event.kind === 'run_end')).toBe(false)
    await expectNothingLeft(id)
  })

  test('a stopping worker ends its runs within the grace period', async () => {
    const { id, done } = await start('polite')
    await waitUntilRunning(id)
    fixture.stopping.abort()
    const { run } = await done
    expect(run).toMatchObject({ status: 'ERROR', endCause: 'error' })
    expect(run.error).toContain('worker was stopped')
    await expectNothingLeft(id)
  })

  test('rejects hosts that became unusable and runs the others', async () => {
    const run = await runJob(fixture.operator, { template: await fixture.template('look', ''), limit: 'all' })
    await setNodeMaintenance(fixture.operator, { id: await nodeId('gpu001'), isOn: true })
    const { run: ended, hosts, log } = await fixture.execute(run.id)
    expect(ended.status).toBe('PARTIAL')
    expect(hosts).toMatchObject([{ result: 'UNREACHABLE' }, { result: 'OK' }])
    expect(hosts[0]!.message).toMatch(/^The node \S+ cannot run playbooks: in maintenance; [^.]+\.$/)
    expect(log).toContain('fatal: [gpu001]: UNREACHABLE!')
  })

  test('no usable host is an error', async () => {
    const run = await runJob(fixture.operator, { template: await fixture.template('look', ''), limit: 'gpu001' })
    await setNodeMaintenance(fixture.operator, { id: await nodeId('gpu001'), isOn: true })
    expect((await fixture.execute(run.id)).run).toMatchObject({ status: 'ERROR', exitCode: null })
  })

  test('cleans up after a killed worker; the run is lost once', async () => {
    const { id, stray } = await killedWorker()
    expect(isAlive(stray)).toBe(true)
    expect(readdirSync(fixture.config.ANSIBLE_WORK_DIR)).toHaveLength(1)
    expect(await removeAbandonedRuns(fixture.config.ANSIBLE_WORK_DIR, fixture.runtime.log, fixture.isolation)).toBe(1)
    expect(isAlive(stray)).toBe(false)
    await expectNothingLeft(id)

    await fixture.runtime.db.execute(sql`update job_runs set worker_seen_at = now() - interval '31 s' where id = ${id}`)
    const counts = await Promise.all([1, 2, 3].map(() => endLostJobRuns(fixture.runtime)))
    expect(counts.reduce((sum, count) => sum + count.ended, 0)).toBe(1)
    const { run, events } = await fixture.read(id)
    expect(run).toMatchObject({ status: 'ERROR', endCause: 'lost', interruptedHosts: ['gpu001', 'gpu002'] })
    expect(run.error).toContain('worker of the run was lost')
    expectGapFree(events)
    expect(events.filter((event) => event.kind === 'run_end')).toHaveLength(1)
  })
})

const nodeId = async (name: string) => {
  const [node] = await fixture.runtime.db.select().from(schema.computeNodes).where(eq(schema.computeNodes.name, name))
  return node!.id
}

/** A zombie counts as dead: it waits only for its parent. */
const isAlive = (pid: number) => {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Kills a worker process during a run that has a stray child. */
async function killedWorker() {
  const run = await runJob(fixture.operator, { template: await fixture.template('stubborn', ''), limit: 'all' })
  const worker = await spawnRunWorker(fixture, run.id)
  await waitUntilRunning(run.id)
  const stray = await strayOf(run.id)
  await worker.kill()
  return { id: run.id, stray }
}
