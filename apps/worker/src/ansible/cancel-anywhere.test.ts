import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { schema } from '@muster/core/db'
import { Conflict } from '@muster/core/errors'
import { cancelJobRun, type JobRun, runJob } from '@muster/core/jobs'
import { FAULT_TIMEOUT, often } from '@muster/core/testing'
import { afterEach, expect, test } from 'vitest'
import { type RunWorld, realAnsible, runWorld } from '../testing/run-world.ts'
import { processesWith } from './processes.ts'

const FAKE = fileURLToPath(new URL('../testing/fake-ansible-playbook.mjs', import.meta.url))
const AT_ONCE = 6
// The stand-in knows them by their names.
const TASKS = {
  polite: { command: 'sleep 300' },
  stubborn: { shell: `trap '' INT TERM; (setsid sh -c 'trap "" INT TERM; sleep 301; :' &); sleep 302; :` },
  look: { debug: { msg: 'All is well.' } },
}

let world: RunWorld
afterEach(() => world.close())

test.each([
  { who: 'a stand-in', ansible: () => FAKE, runs: often(5000) },
  { who: 'the real Ansible', ansible: realAnsible, runs: often(40) },
])(
  '$runs runs of $who, canceled at any moment, end once and leave nothing',
  { timeout: FAULT_TIMEOUT },
  async ({ ansible, runs }) => {
    world = await runWorld({ ANSIBLE_PLAYBOOK: ansible(), JOB_CANCEL_GRACE_PERIOD: 0.2 })
    const { id: credentialId } = await world.given.credential(world.admin, 'SSH_KEY')
    const connectionType = ansible() === FAKE ? 'ssh' : 'local'
    const nodes = await world.given.fleet(world.admin, { nodes: AT_ONCE, with: { credentialId, connectionType } })
    for (const [name, task] of Object.entries(TASKS))
      await world.template(name, JSON.stringify([{ hosts: 'all', gather_facts: false, tasks: [task] }]), { isReadOnly: false })
    const begin = (template: string, i: number) => runJob(world.operator, { template, nodeIds: [nodes[i]!.id] })

    // How long one takes that nobody cancels: moments are drawn from a little more than that.
    const began = performance.now()
    expect((await world.take((await begin('look', 0)).id)).run.status).toBe('SUCCEEDED')
    const usualMs = performance.now() - began
    const moments = new Set<string>()
    let left = runs
    const cancelOneAfterTheOther = async (_: unknown, lane: number) => {
      while (left-- > 0) {
        const template = Object.keys(TASKS)[left % 3]!
        const { id } = await begin(template, lane)
        const taking = world.take(id)
        await sleep(randomInt(Math.ceil(usualMs * 1.2)))
        const asked = await cancelJobRun(world.operator, { id }).catch((error: unknown) => error as Error)
        const { run, hosts, events } = await taking
        if (template !== 'look') expect([template, run.status]).toEqual([template, 'CANCELED'])
        else if (asked instanceof Error) expect([asked instanceof Conflict, run.status]).toEqual([true, 'SUCCEEDED'])
        else expect(['CANCELED', 'SUCCEEDED']).toContain(run.status)
        expect(run.finishedAt).not.toBeNull()
        expect(['PENDING', 'RUNNING']).not.toContain(hosts[0]!.result)
        expect(events.map((event) => event.seq)).toEqual(events.map((_event, i) => i + 1))
        expect(events.filter((event) => event.kind === 'run_end')).toEqual([events.at(-1)])
        moments.add(momentOf(run))
      }
    }
    await Promise.all(nodes.map(cancelOneAfterTheOther))
    if (runs > 100) expect([...moments].sort()).toEqual(['after its claim', 'after its exec', 'before its claim'])
    expect(await processesWith(world.config.ANSIBLE_WORK_DIR)).toEqual([])
    expect(readdirSync(world.config.ANSIBLE_WORK_DIR)).toEqual([])
    expect(await world.runtime.db.select().from(schema.nodeLocks)).toEqual([])
  },
)

const momentOf = (run: JobRun) => (run.execAt ? 'after its exec' : run.startedAt ? 'after its claim' : 'before its claim')
