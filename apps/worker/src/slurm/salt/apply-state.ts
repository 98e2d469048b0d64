import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { Conflict, DomainError, Unavailable } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { retryTransient } from '@muster/core/retry-transient'
import type { SlurmSaltJob } from '@muster/core/slurm-operations'
import { and, eq, inArray } from 'drizzle-orm'
import type { OperationContext } from '../operations/operation.ts'
import { checkKey } from './check-minions.ts'
import type { SaltClient, SaltState } from './salt-client.ts'
import { readStateResult } from './state-result.ts'

/** Packages of a slow mirror take minutes. */
const DEADLINE_MS = 30 * 60_000
const POLL_MS = 2000
/** Polls between two checks of the running jobs of minions. Each check waits for minions that do not answer. */
const LOOK_EVERY = 5
/** A minion that executes nothing this many times in a row has lost the job, for example by a restart. */
const MAX_IDLE = 4

export type SaltTimes = { deadlineMs?: number; pollMs?: number }

/**
 * Applies a state on the minions of nodes, and waits for their returns. The job is recorded before Salt gets it: a repeated call reads
 * the job that was started, and starts none. A minion executes a state after those that it has begun.
 * @param key identifies the job within the operation
 * @returns why nodes failed, by node ID
 * @throws Conflict, Unavailable the salt-api cannot be used; the signal's reason
 */
export async function applyState(
  op: OperationContext,
  key: string,
  nodeIds: string[],
  state: SaltState,
  times: SaltTimes = {},
): Promise<Map<string, string>> {
  const known = op.row.saltJobs.find((job) => job.key === key)
  let job = known
  if (!job?.finishedAt) {
    const salt = await openClient(op)
    job ??= await newJob(op, salt, key, nodeIds)
    if (!known) await op.recordSaltJob(job, state)
    if (!known && job.minions.length > 0) await salt.applyState(minionIds(job), job.jid, state)
    job = await readUntilEnd(op, salt, job, state, times)
    await op.recordSaltJob(job, state)
  }
  const { jid, minions, failed } = job
  const members = new Set(minions.map(({ nodeId }) => nodeId))
  return new Map(
    nodeIds
      .map((id) => [id, failed[id] ?? (members.has(id) ? null : `it was not in the Salt job ${jid}`)] as const)
      .filter((entry): entry is [string, string] => entry[1] !== null),
  )
}

/** Waits for a job that an earlier step has started and not ended: a cancel does not interrupt a state. */
export async function waitForState(
  op: OperationContext,
  key: string,
  { deadlineMs = DEADLINE_MS, pollMs = POLL_MS }: SaltTimes = {},
): Promise<void> {
  const job = op.row.saltJobs.find((one) => one.key === key && one.finishedAt === null)
  if (!job) return
  try {
    const salt = await openClient(op)
    for (const open = new Set(minionIds(job)); open.size > 0; ) {
      const returns = await salt.readJob(job.jid)
      for (const id of returns?.keys() ?? []) open.delete(id)
      const running = await salt.runningMinions([...open], job.jid)
      if (running.size === 0) return
      if (Date.now() >= Date.parse(job.startedAt) + deadlineMs)
        return await op.report(
          `The Salt job ${job.jid} still runs on ${[...running.keys()].join(', ')}. Muster no longer waits for it.`,
        )
      await op.report(`Waiting for the Salt job ${job.jid}, which is not interrupted.`)
      await setTimeout(pollMs, null, { signal: op.signal }).catch(() => {})
      op.signal.throwIfAborted()
    }
  } catch (error) {
    // If salt-api does not answer, the job is not awaited; the removal of the packages reports the failure.
    if (!(error instanceof DomainError)) throw error
  }
}

async function openClient(op: OperationContext): Promise<SaltClient> {
  const salt = await op.salt()
  if (salt === null) throw new Conflict(`The cluster ${op.cluster.name} has no salt-api. Choose a credential of the kind SALT.`)
  return salt
}

const minionIds = ({ minions }: SlurmSaltJob): string[] => minions.map(({ minionId }) => minionId)

async function newJob(op: OperationContext, salt: SaltClient, key: string, nodeIds: string[]): Promise<SlurmSaltJob> {
  const { computeNodes } = schema
  const nodes = await retryTransient(() =>
    op.ctx.db
      .select({ id: computeNodes.id, name: computeNodes.name })
      .from(computeNodes)
      .where(and(eq(computeNodes.tenantId, op.ctx.tenantId), inArray(computeNodes.id, nodeIds))),
  )
  const keys = await salt.listKeys()
  const minions: SlurmSaltJob['minions'] = []
  const failed: Record<string, string> = {}
  for (const nodeId of nodeIds) {
    const node = nodes.find(({ id }) => id === nodeId)
    const found = node && checkKey(node.name, keys)
    if (found?.minionId) minions.push({ nodeId, minionId: found.minionId })
    else failed[nodeId] = found ? `Salt: ${found.checks[0].message}.` : 'The node was deleted.'
  }
  return {
    key,
    jid: newJobId(keys.time, op.row.saltJobs),
    minions,
    startedAt: new Date().toISOString(),
    finishedAt: null,
    failed,
  }
}

/** Minions order jobs by ID, so it has the master's time, and follows the operation's earlier ones. */
function newJobId(time: string, jobs: SlurmSaltJob[]): string {
  if (time === '') throw new Conflict('The Salt master returns no job ID. Check its version, which must be 3006 or newer.')
  const jid = time + String(randomInt(1_000_000)).padStart(6, '0')
  const last =
    jobs
      .map(({ jid }) => jid)
      .toSorted()
      .at(-1) ?? ''
  return jid > last ? jid : String(BigInt(last) + 1n)
}

/** Reads a started job until all minions have returned, or will not. @returns the ended job */
async function readUntilEnd(
  op: OperationContext,
  salt: SaltClient,
  job: SlurmSaltJob,
  state: SaltState,
  { deadlineMs = DEADLINE_MS, pollMs = POLL_MS }: SaltTimes,
): Promise<SlurmSaltJob> {
  const failed = { ...job.failed }
  const open = new Map(job.minions.map(({ minionId, nodeId }) => [minionId, nodeId]))
  const idle = new Map<string, number>()
  const until = Date.parse(job.startedAt) + deadlineMs
  const show = () =>
    op.report(`Salt job ${job.jid}: ${job.minions.length - open.size} of ${job.minions.length} minions have returned.`)
  const giveUp = (minionId: string, why: string) => {
    failed[open.get(minionId)!] =
      `${minionId} ${why}. On the Salt master, \`salt-run jobs.lookup_jid ${job.jid}\` shows what it returned.`
    open.delete(minionId)
  }
  if (open.size > 0) await show()
  let isStarted = false
  for (let poll = 1; open.size > 0; poll++) {
    op.signal.throwIfAborted()
    const returns = await ifAvailable(() => salt.readJob(job.jid))
    if (returns === null && !isStarted) {
      // The worker that recorded the job ended before Salt got it.
      isStarted = true
      await salt.applyState(minionIds(job), job.jid, state)
    }
    const returned = [...open].filter(([minionId]) => returns?.has(minionId))
    const results = returned.map(([minionId, nodeId]) => ({ nodeId, ...readStateResult(state.name, returns!.get(minionId)) }))
    for (const [minionId] of returned) open.delete(minionId)
    for (const { nodeId, failure } of results) if (failure !== null) failed[nodeId] = failure
    const changes = results.flatMap(({ nodeId, findings }) => {
      const node = op.nodes.find((one) => one.nodeId === nodeId)
      const others = node?.checks.filter(({ name }) => !name.startsWith(`${state.name} `)) ?? []
      return node ? { name: node.name, checks: [...others, ...findings] } : []
    })
    if (changes.length > 0) await op.updateNodes(changes)
    if (poll % LOOK_EVERY === 0) {
      const running = await ifAvailable(() => salt.runningMinions([...open.keys()], job.jid))
      for (const minionId of running ? [...open.keys()] : []) {
        idle.set(minionId, running!.has(minionId) ? 0 : (idle.get(minionId) ?? 0) + 1)
        if (idle.get(minionId)! >= MAX_IDLE) giveUp(minionId, `does not execute ${state.name} and has not returned`)
      }
    }
    if (Date.now() >= until)
      for (const minionId of [...open.keys()])
        giveUp(minionId, `has not returned within ${Math.round(deadlineMs / 60_000)} minutes`)
    if (returned.length > 0 || open.size === 0) await show()
    if (open.size > 0) await setTimeout(pollMs, null, { signal: op.signal }).catch(() => {})
  }
  return { ...job, finishedAt: new Date().toISOString(), failed }
}

/** A salt-api that restarts does not end the job. @returns undefined while it does not answer */
async function ifAvailable<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Unavailable) return undefined
    throw error
  }
}
