import { alerts } from '@muster/core/alerts'
import { addSlurmCluster, slurmClusters, updateSlurmCluster } from '@muster/core/clusters'
import { inTransaction } from '@muster/core/context'
import {
  cancelSlurmOperation,
  insertOperation,
  type SlurmOperation,
  slurmOperationNodes,
  slurmOperations,
} from '@muster/core/slurm-operations'
import { LOOPBACK, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { ConfigError } from '@muster/slurm/config'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { slurmOperationHandler } from '../../handlers/slurm-operation.ts'
import { slurmNodeScale } from '../../metrics.ts'
import type { Session } from '../../ssh/exec.ts'
import { SshFailure } from '../../ssh/ssh-failure.ts'
import type { ControllerSessions } from '../controller-sessions.ts'
import { OperationFailure, type Step, type Workflow } from './operation.ts'

let t: TestRuntime
let fixture: TenantFixture
let clusterId: string
let done: string[]
beforeAll(async () => {
  t = await testRuntime()
  fixture = await t.given.tenant()
  const [node] = await t.given.fleet(fixture.admin, { nodes: 1 })
  clusterId = (await addSlurmCluster(fixture.admin, { name: 'prod', controllerNodeId: node!.id })).id
})
afterAll(() => t.close())
beforeEach(() => {
  done = []
})

class Killed extends Error {}
const NAMES = ['first', 'second', 'third']
const step = (name: string, run: Step['run'] = async () => {}): Step => ({
  name,
  async run(op) {
    await run(op)
    done.push(name)
  },
})
const start = (nodes: string[] = []) =>
  inTransaction(fixture.admin, (tx, ctx) =>
    insertOperation(tx, ctx, {
      clusterId,
      kind: 'SCALE_OUT',
      input: {},
      plan: {},
      reason: 'test',
      nodes: nodes.map((name) => ({ nodeId: null, name })),
    }),
  )
const handler = (
  workflow: Workflow,
  stopping = new AbortController().signal,
  renewEveryMs = 10_000,
  use: ControllerSessions['use'] = () => expect.unreachable(),
) =>
  slurmOperationHandler(
    {
      runtime: t.runtime,
      config: { SSH_TIMEOUT: 3, LOCAL_TARGETS: LOOPBACK },
      workerId: 'test-worker',
      controllers: { use, close() {} },
      stopping,
      renewEveryMs,
    },
    { CREATE: workflow, SCALE_OUT: workflow, SCALE_IN: workflow, CONFIGURE: workflow, POWER_SAVING: workflow },
  )
const stored = async ({ id }: SlurmOperation): Promise<SlurmOperation> =>
  (await t.runtime.db.select().from(slurmOperations).where(eq(slurmOperations.id, id)))[0]!
const expireClaims = () =>
  t.runtime.db.update(slurmOperations).set({ claimedUntil: sql`now() - interval '1 s'` }).where(sql`claimed_until is not null`)

describe.each(['before', 'after'] as const)('a worker that is killed %s the work of a step', (when) => {
  it.each(NAMES)('%s: another one continues there', async (killedAt) => {
    let isKilled = false
    const kill = (name: string) => {
      if (name !== killedAt || isKilled) return
      isKilled = true
      throw new Killed()
    }
    const steps = NAMES.map(
      (name): Step => ({
        name,
        async run() {
          if (when === 'before') kill(name)
          done.push(name)
          if (when === 'after') kill(name)
        },
      }),
    )
    const row = await start()
    const handle = handler({ steps, undo: [step('undo')] })
    await expect(handle(row)).rejects.toThrow(Killed)
    // The claim of the lost worker has not expired.
    await handle(row)
    expect(await stored(row)).toMatchObject({ status: 'RUNNING', step: killedAt })
    await expireClaims()
    await handle(row)
    const again = when === 'after' ? [killedAt] : []
    expect(done.toSorted()).toEqual([...NAMES, ...again].toSorted())
    expect(await stored(row)).toMatchObject({
      status: 'SUCCEEDED',
      error: null,
      steps: NAMES.map((name) => ({ name, state: 'DONE' })),
    })
  })
})

it('undoes a failed operation, also when the worker is killed meanwhile', async () => {
  let isKilled = false
  const undo = [
    step('remove hosts', async () => {
      if (isKilled) return
      isKilled = true
      throw new Killed()
    }),
    step('restore configuration'),
  ]
  const fail = step('second', async () => {
    throw new OperationFailure('The disk of cpu-01 is full.')
  })
  const row = await start()
  const handle = handler({ steps: [step('first'), fail, step('third')], undo })
  await expect(handle(row)).rejects.toThrow(Killed)
  expect(await stored(row)).toMatchObject({ status: 'RUNNING', error: 'The disk of cpu-01 is full.' })
  await expireClaims()
  await handle(row)
  expect(done).toEqual(['first', 'remove hosts', 'restore configuration'])
  expect(await stored(row)).toMatchObject({ status: 'FAILED', error: 'The disk of cpu-01 is full.' })
})

it('shows the steps that ran to the undo steps', async () => {
  const seen: string[] = []
  const row = await start()
  const fail = step('second', async () => {
    throw new OperationFailure('No space.')
  })
  const undo = step('undo', async (op) => void seen.push(...op.row.steps.map(({ name, state }) => `${name} ${state}`)))
  await handler({ steps: [step('first'), fail], undo: [undo] })(row)
  expect(seen).toEqual(['first DONE', 'second FAILED', 'undo RUNNING'])
})

it('ends when its input does not fit, instead of repeating the step', async () => {
  const row = await start()
  const refused = step('first', async () => {
    throw new ConfigError('PowerPlugin is no key of this release.')
  })
  await handler({ steps: [refused], undo: [step('undo')] })(row)
  expect(done).toEqual(['undo'])
  expect(await stored(row)).toMatchObject({ status: 'FAILED', error: 'PowerPlugin is no key of this release.' })
})

it('continues after a lost connection, and shows it at the step', async () => {
  const row = await start(['cpu-01'])
  const [node] = await t.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, clusterId))
  await t.runtime.db
    .update(slurmOperationNodes)
    .set({ nodeId: node!.controllerNodeId })
    .where(eq(slurmOperationNodes.operationId, row.id))
  const lost = [new SshFailure({ stage: 'SHELL', hop: null }, 'The connection was lost while a command ran.')]
  const use: ControllerSessions['use'] = (_ctx, _nodeId, work) => {
    const error = lost.shift()
    return error ? Promise.reject(error) : work({} as Session)
  }
  const work = step('first', ({ slurm }) => slurm(async () => {}))
  await handler({ steps: [work], undo: [step('undo')] }, undefined, undefined, use)(row)
  const message = 'cpu-01: The connection was lost while a command ran. Attempt 2 follows.'
  expect(await stored(row)).toMatchObject({ status: 'SUCCEEDED', steps: [{ name: 'first', state: 'DONE', message }] })
})

it('names what could not be undone, and undoes the rest', async () => {
  const failing = (name: string, message: string) =>
    step(name, async () => {
      throw new OperationFailure(message)
    })
  const row = await start()
  await handler({
    steps: [failing('first', 'No space.')],
    undo: [failing('remove hosts', 'cpu-01 is unreachable.'), step('restore configuration')],
  })(row)
  expect(done).toEqual(['restore configuration'])
  expect((await stored(row)).error).toBe('No space. Not undone: remove hosts: cpu-01 is unreachable.')
})

it('stops a step when a user cancels, and undoes the operation', async () => {
  const row = await start()
  const waits = step('first', async ({ signal }) => {
    await cancelSlurmOperation(fixture.admin, { id: row.id })
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  await handler({ steps: [waits, step('second')], undo: [step('undo')] }, undefined, 20)(row)
  expect(done).toEqual(['undo'])
  expect(await stored(row)).toMatchObject({ status: 'CANCELED', error: `Canceled by ${fixture.admin.actor.name}.` })
  await expect(cancelSlurmOperation(fixture.admin, { id: row.id })).rejects.toThrow(/has ended: CANCELED/)
})

it('leaves the operation to another worker at once when this one stops', async () => {
  const row = await start()
  const stopping = new AbortController()
  const waits = step('first', async ({ signal }) => {
    stopping.abort(new Error('The worker stops.'))
    signal.throwIfAborted()
  })
  await handler({ steps: [waits], undo: [step('undo')] }, stopping.signal)(row)
  expect(await stored(row)).toMatchObject({ status: 'RUNNING', error: null })
  await handler({ steps: [step('first')], undo: [] })(row)
  expect(done).toEqual(['first'])
  expect(await stored(row)).toMatchObject({ status: 'SUCCEEDED' })
})

it('stores nothing after another worker has taken over', async () => {
  const row = await start(['cpu-01'])
  const takenOver = step('first', async (op) => {
    await t.runtime.db.update(slurmOperations).set({ claimToken: 'another' }).where(eq(slurmOperations.id, row.id))
    await op.updateNodes([{ name: 'cpu-01', phase: 'LATE' }])
  })
  await handler({ steps: [takenOver, step('second')], undo: [step('undo')] })(row)
  expect(done).toEqual([])
  const [node] = await t.runtime.db.select().from(slurmOperationNodes).where(eq(slurmOperationNodes.operationId, row.id))
  expect(node).toMatchObject({ phase: 'WAITING' })
  await expireClaims()
  await handler({ steps: [], undo: [] })(row)
})

it('has one unfinished operation per cluster, and ends as PARTIAL when some nodes failed', async () => {
  const row = await start(['cpu-01', 'cpu-02'])
  await expect(start()).rejects.toThrow(/The operation SCALE_OUT .* runs on the cluster prod/)
  await handler({
    steps: [step('first', ({ updateNodes }) => updateNodes([{ name: 'cpu-02', isFailed: true, message: 'No munge.' }]))],
    undo: [],
  })(row)
  expect(await stored(row)).toMatchObject({ status: 'PARTIAL', problemCount: 1 })
})

it('raises an alert when nodes are left out, until a later scale-out adds all of its nodes', async () => {
  const open = async () => {
    const rows = await t.runtime.db.select().from(alerts).where(eq(alerts.kind, 'slurm_scale_out_failed'))
    return rows.filter(({ resolvedAt }) => resolvedAt === null).map(({ cluster, evidence }) => ({ cluster, evidence }))
  }
  const leaveOut = step('first', async ({ updateNodes }) => {
    await updateNodes([
      { name: 'cpu-01', phase: 'IN_SERVICE' },
      { name: 'cpu-02', isFailed: true, message: 'No munge.' },
    ])
  })
  const row = await start(['cpu-01', 'cpu-02'])
  await handler({ steps: [leaveOut], undo: [] })(row)
  const evidence = { operationId: row.id, error: null, total: 1, nodes: [{ name: 'cpu-02', detail: 'No munge.' }] }
  expect(await open()).toEqual([{ cluster: 'prod', evidence }])
  const fail = step('first', async () => {
    throw new OperationFailure('The disk of ctl is full.')
  })
  await handler({ steps: [fail], undo: [] })(await start(['cpu-02']))
  expect(await open()).toMatchObject([{ evidence: { error: 'The disk of ctl is full.', total: 0 } }])
  await handler({ steps: [step('first')], undo: [] })(await start(['cpu-02']))
  expect(await open()).toEqual([])
  await handler({ steps: [fail], undo: [] })(await start(['cpu-02']))
  await updateSlurmCluster(fixture.admin, { id: clusterId, name: 'renamed' })
  expect(await open()).toEqual([])
})

it('counts nodes from 0 on, so that a rate sees the first failure', async () => {
  await t.runtime.db.update(slurmClusters).set({ name: 'counted' }).where(eq(slurmClusters.id, clusterId))
  const counted = async () => {
    const values = await Promise.all(Object.values(slurmNodeScale).map((counter) => counter.get()))
    return values.map((metric) => metric.values.find(({ labels }) => labels.cluster === 'counted')?.value)
  }
  let first: unknown
  const leaveOut = step('first', async ({ updateNodes }) => {
    first = await counted()
    await updateNodes([{ name: 'cpu-02', isFailed: true, message: 'No munge.' }])
  })
  await handler({ steps: [leaveOut], undo: [] })(await start(['cpu-01', 'cpu-02']))
  expect([first, await counted()]).toEqual([
    [0, 0, 0],
    [2, 1, 1],
  ])
  await t.runtime.db.update(slurmClusters).set({ name: 'prod' }).where(eq(slurmClusters.id, clusterId))
})
