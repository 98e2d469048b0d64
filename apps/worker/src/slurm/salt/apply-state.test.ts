import { setTimeout } from 'node:timers/promises'
import { Conflict, Unavailable } from '@muster/core/errors'
import type { SlurmSaltJob } from '@muster/core/slurm-operations'
import { type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { OperationCanceled, type OperationContext } from '../operations/operation.ts'
import { applyState, type SaltTimes, waitForState } from './apply-state.ts'
import type { SaltClient } from './salt-client.ts'

let t: TestRuntime
let fixture: TenantFixture
let nodes: { id: string; name: string }[]
beforeAll(async () => {
  t = await testRuntime()
  fixture = await t.given.tenant()
  nodes = await t.given.fleet(fixture.admin, { nodes: 3 })
})
afterAll(() => t.close())

const STATE = { name: 'slurm.node', pillar: { slurm_node: { role: 'compute' } } }
const FAST: SaltTimes = { pollMs: 1 }
const ids = () => nodes.map(({ id }) => id)
const state = (id: string, order: number, result: boolean | null, comment: string) => ({
  [`pkg_|-${id}_|-${id}_|-installed`]: {
    __id__: id,
    __run_num__: order,
    __sls__: 'slurm.node',
    name: id,
    result,
    comment,
    changes: {},
  },
})
const OK = { ...state('repository', 0, true, 'is in the correct state'), ...state('packages', 1, true, 'were installed: slurmd') }
const FAILED = {
  ...state('repository', 0, false, 'Unable to manage file: HTTP 404'),
  ...state('packages', 1, false, 'One or more requisite failed: slurm.node.repository'),
}

/** A master with the minions of all nodes, on which jobs end at once with `returns`. */
function master(returns: Record<string, unknown>) {
  const jobs = new Map<string, string[]>()
  const log: string[] = []
  const salt = {
    async listKeys() {
      return { accepted: nodes.map(({ name }) => name), pending: [], rejected: [], denied: [], time: '20261123171219' }
    },
    call: () => expect.unreachable(),
    async applyState(minions, jid) {
      log.push(`start ${jid}`)
      jobs.set(jid, minions)
    },
    async readJob(jid) {
      const minions = jobs.get(jid)
      return minions ? new Map(minions.flatMap((id) => (id in returns ? [[id, returns[id]] as const] : []))) : null
    },
    runningMinions: async () => new Set<string>(),
  } satisfies SaltClient as SaltClient
  return { salt, log, jobs }
}
const allReturn = (value: unknown) => Object.fromEntries(nodes.map(({ name }) => [name, value]))

function operation(salt: SaltClient, { saltJobs = [] as SlurmSaltJob[], log = [] as string[] } = {}) {
  const canceled = new AbortController()
  const op = {
    ctx: fixture.worker,
    row: { saltJobs },
    cluster: { name: 'prod' },
    nodes: nodes.map(({ id, name }) => ({ nodeId: id, name, checks: [{ name: 'clock', state: 'OK', message: '' }] })),
    signal: canceled.signal,
    messages: [] as string[],
    salt: async () => salt,
    async recordSaltJob(job: SlurmSaltJob) {
      log.push(`record ${job.jid}${job.finishedAt ? ' ended' : ''}`)
      op.row = { saltJobs: [...op.row.saltJobs.filter(({ key }) => key !== job.key), job] }
    },
    async updateNodes(changes: { name: string; checks: [] }[]) {
      for (const { name, checks } of changes) op.nodes.find((node) => node.name === name)!.checks = checks
    },
    async report(message: string) {
      op.messages.push(message)
    },
  }
  return { op: op as typeof op & OperationContext, canceled }
}

describe('a state', () => {
  it('is recorded before Salt gets it, and each node keeps its own result', async () => {
    const [good, bad, silent] = nodes.map(({ name }) => name) as [string, string, string]
    const { salt, log } = master({ [good]: OK, [bad]: FAILED, [silent]: ["Rendering SLS 'base:slurm.node' failed: x"] })
    const { op } = operation(salt, { log })
    const failed = await applyState(op, 'compute', ids(), STATE, FAST)
    expect(Object.fromEntries(failed)).toEqual({
      [nodes[1]!.id]: 'Salt could not apply slurm.node. repository: Unable to manage file: HTTP 404',
      [nodes[2]!.id]: "Salt cannot apply slurm.node: Rendering SLS 'base:slurm.node' failed: x",
    })
    const jid = expect.stringMatching(/^record 20261123171219\d{6}$/)
    expect(log).toEqual([jid, expect.stringMatching(/^start /), expect.stringMatching(/ ended$/)])
    expect(log[1]!.slice('start '.length)).toBe(log[0]!.slice('record '.length))
    expect(op.nodes[1]!.checks).toEqual([
      { name: 'clock', state: 'OK', message: '' },
      { name: 'slurm.node repository', state: 'FAILED', message: 'Unable to manage file: HTTP 404' },
      { name: 'slurm.node packages', state: 'FAILED', message: 'One or more requisite failed: slurm.node.repository' },
    ])
    expect(op.messages.at(-1)).toMatch(/^Salt job \d{20}: 3 of 3 minions have returned\.$/)
  })

  it('leaves out nodes without an accepted minion', async () => {
    const { salt, jobs } = master(allReturn(OK))
    const listKeys = async () => ({ ...(await salt.listKeys()), accepted: [nodes[0]!.name], pending: [nodes[1]!.name] })
    const { op } = operation({ ...salt, listKeys })
    const failed = await applyState(op, 'compute', ids(), STATE, FAST)
    expect([...jobs.values()]).toEqual([[nodes[0]!.name]])
    expect([...failed.keys()]).toEqual([nodes[1]!.id, nodes[2]!.id])
    expect(failed.get(nodes[1]!.id)).toMatch(/^Salt: the key of .* is not accepted; accept it with `salt-key/)
  })

  it.each([
    ['before Salt got it', false],
    ['after Salt got it', true],
  ])('of a worker that was killed %s is started once', async (_title, isStarted) => {
    const { salt, log, jobs } = master(allReturn(OK))
    const minions = nodes.map(({ id, name }) => ({ nodeId: id, minionId: name }))
    const times = { startedAt: new Date().toISOString(), finishedAt: null }
    const job: SlurmSaltJob = { key: 'compute', jid: '20261123171219000001', minions, ...times, failed: {} }
    if (isStarted)
      jobs.set(
        job.jid,
        nodes.map(({ name }) => name),
      )
    const { op } = operation(salt, { saltJobs: [job] })
    expect((await applyState(op, 'compute', ids(), STATE, FAST)).size).toBe(0)
    expect(log).toEqual(isStarted ? [] : [`start ${job.jid}`])
    expect(op.row.saltJobs).toMatchObject([{ jid: job.jid, finishedAt: expect.any(String) }])
    // Its result is stored: a later step of the operation asks nobody.
    op.salt = () => expect.unreachable()
    expect((await applyState(op, 'compute', ids(), STATE, FAST)).size).toBe(0)
  })

  it('ends without minions that have lost it, or need too long', async () => {
    const [good, lost] = nodes.map(({ name }) => name) as [string, string]
    const { salt } = master({ [good]: OK })
    const slow = nodes[2]!.name
    const clock = vi.spyOn(Date, 'now')
    onTestFinished(() => clock.mockRestore())
    let looks = 0
    const runningMinions = async () => {
      // The deadline passes after the other minion has executed nothing four times.
      if (++looks === 5) clock.mockReturnValue(Date.parse(op.row.saltJobs[0]!.startedAt) + 30 * 60_000)
      return new Set([slow])
    }
    const { op } = operation({ ...salt, runningMinions })
    const failed = await applyState(op, 'compute', ids(), STATE, FAST)
    expect(failed.get(nodes[1]!.id)).toMatch(
      new RegExp(
        `^${lost} does not execute slurm.node and has not returned. On the Salt master, .salt-run jobs.lookup_jid \\d{20}`,
      ),
    )
    expect(failed.get(nodes[2]!.id)).toMatch(new RegExp(`^${slow} has not returned within 30 minutes`))
    expect([failed.size, looks]).toEqual([2, 5])
  })

  it('survives a restart of salt-api, but no missing permission', async () => {
    const { salt } = master(allReturn(OK))
    const readJob = vi
      .fn(salt.readJob)
      .mockRejectedValueOnce(new Unavailable('down'))
      .mockRejectedValueOnce(new Unavailable('down'))
    const { op } = operation({ ...salt, readJob })
    expect((await applyState(op, 'compute', ids(), STATE, FAST)).size).toBe(0)
    expect(readJob).toHaveBeenCalledTimes(3)
    const refused = operation({ ...salt, readJob: vi.fn().mockRejectedValue(new Conflict('@runner: jobs.list_job')) })
    await expect(applyState(refused.op, 'compute', ids(), STATE, FAST)).rejects.toThrow(/jobs.list_job/)
  })

  it('that runs during a cancel is awaited before the packages are removed', async () => {
    const returns: Record<string, unknown> = {}
    const { salt } = master(returns)
    let running = new Set(nodes.map(({ name }) => name))
    const client = { ...salt, runningMinions: async () => running }
    const { op, canceled } = operation(client)
    const applying = applyState(op, 'compute', ids(), STATE, FAST)
    await vi.waitFor(() => expect(op.messages).toHaveLength(1))
    canceled.abort(new OperationCanceled('Canceled by Ada.'))
    await expect(applying).rejects.toThrow('Canceled by Ada.')
    expect(op.row.saltJobs).toMatchObject([{ finishedAt: null }])
    const undo = operation(client, { saltJobs: op.row.saltJobs })
    let isDone = false
    const waiting = waitForState(undo.op, 'compute', FAST).then(() => (isDone = true))
    await vi.waitFor(() => expect(undo.op.messages).not.toEqual([]))
    await setTimeout(0)
    expect(isDone).toBe(false)
    await waitForState(undo.op, 'compute', { pollMs: 1, deadlineMs: 0 })
    expect(undo.op.messages.at(-1)).toMatch(/still runs on .*Muster no longer waits for it\.$/)
    running = new Set()
    await waiting
    expect(undo.op.messages[0]).toMatch(/^Waiting for the Salt job \d{20}, which is not interrupted\.$/)
  })
})
