import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Conflict } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { cancelJobRun, type JobRun, runJob } from '@muster/core/runs'
import { FAULT_TIMEOUT, scaleIterations } from '@muster/core/testing'
import { afterEach, expect, test } from 'vitest'
import { createRunFixture, type RunFixture, realAnsible } from '../testing/run-fixture.ts'
import { findProcesses } from './process/processes.ts'

const FAKE = fileURLToPath(new URL('../testing/fake-ansible-playbook.mjs', import.meta.url))
const CONCURRENCY = 6
// The fake selects its behavior by these names.
const TASKS = {
  polite: { command: 'sleep 300' },
  stubborn: { shell: `trap '' INT TERM; (setsid sh -c 'trap "" INT TERM; sleep 301; :' &); sleep 302; :` },
  look: { debug: { msg: 'All is well.' } },
}

let fixture: RunFixture
afterEach(() => fixture.close())

test.each([
  { who: 'a fake', ansible: () => FAKE, runs: scaleIterations(5000) },
  { who: 'the real Ansible', ansible: realAnsible, runs: scaleIterations(40) },
])(
  '$runs runs of $who, canceled at random times, end once and leave no process',
  { timeout: FAULT_TIMEOUT },
  async ({ ansible, runs }) => {
    fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: ansible(), JOB_CANCEL_GRACE_PERIOD: 0.2 })
    const { id: credentialId } = await fixture.given.credential(fixture.admin, 'SSH_KEY')
    const connectionType = ansible() === FAKE ? 'ssh' : 'local'
    const nodes = await fixture.given.fleet(fixture.admin, { nodes: CONCURRENCY, with: { credentialId, connectionType } })
    for (const [name, task] of Object.entries(TASKS))
      await fixture.template(name, JSON.stringify([{ hosts: 'all', gather_facts: false, tasks: [task] }]), { isReadOnly: false })
    const begin = (template: string, i: number) => runJob(fixture.operator, { template, nodeIds: [nodes[i]!.id] })

    // Cancel times are drawn from slightly more than the duration of an uncanceled run.
    const began = performance.now()
    expect((await fixture.execute((await begin('look', 0)).id)).run.status).toBe('SUCCEEDED')
    const usualMs = performance.now() - began
    const phases = new Set<string>()
    let left = runs
    const cancelInSequence = async (_: unknown, lane: number) => {
      while (left-- > 0) {
        const template = Object.keys(TASKS)[left % 3]!
        const { id } = await begin(template, lane)
        const taking = fixture.execute(id)
        await sleep(randomInt(Math.ceil(usualMs * 1.2)))
        const canceled = await cancelJobRun(fixture.operator, { id }).catch((error: unknown) => error as Error)
        const { run, hosts, events } = await taking
        if (template !== 'look') expect([template, run.status]).toEqual([template, 'CANCELED'])
        else if (canceled instanceof Error) expect([canceled instanceof Conflict, run.status]).toEqual([true, 'SUCCEEDED'])
        else expect(['CANCELED', 'SUCCEEDED'], String(run.error)).toContain(run.status)
        expect(run.finishedAt).not.toBeNull()
        expect(['PENDING', 'RUNNING']).not.toContain(hosts[0]!.result)
        expect(events.map((event) => event.seq)).toEqual(events.map((_event, i) => i + 1))
        expect(events.filter((event) => event.kind === 'run_end')).toEqual([events.at(-1)])
        phases.add(phaseOf(run))
      }
    }
    await Promise.all(nodes.map(cancelInSequence))
    if (runs > 100) expect([...phases].sort()).toEqual(['after its claim', 'after its exec', 'before its claim'])
    expect(await findProcesses(fixture.config.ANSIBLE_WORK_DIR)).toEqual([])
    expect(readdirSync(fixture.config.ANSIBLE_WORK_DIR)).toEqual([])
    expect(await fixture.runtime.db.select().from(schema.nodeLocks)).toEqual([])
  },
)

const phaseOf = (run: JobRun) =>
  run.ansibleStartedAt ? 'after its exec' : run.startedAt ? 'after its claim' : 'before its claim'
