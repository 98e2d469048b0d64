import { setTimeout } from 'node:timers/promises'
import type { NodeBmc } from '@muster/core/nodes'
import type { ClaimedPowerRun, PowerAction, PowerOutcome, PowerRun, PowerState, SendPermission } from '@muster/core/power'
import type { BmcDriver, PowerReading } from './driver.ts'
import { RedfishError } from './redfish-client.ts'

type Item = ClaimedPowerRun['items'][number]

/** How progress is stored. Functions that return false or LOST: another worker has taken over. */
export type PowerJournal = {
  command(itemId: string, before: PowerReading, command: string): Promise<SendPermission>
  result(itemId: string, outcome: PowerOutcome): Promise<boolean>
  /** The state of a BMC at the last reading, or why it was not read. */
  reading(bmcId: string, report: { state: PowerState } | { error: string; offeredFingerprint: string | null }): Promise<void>
}
export type PowerTimes = {
  /** Between two readings of the state. */
  pollMs: number
  /** How long the effect of a command is awaited. A shutdown takes minutes. */
  deadlineMs: Record<Exclude<PowerAction, 'NMI' | 'BOOT_ONCE'>, number>
  /** How long a reset is awaited that a BMC may be too slow, or unable, to show. */
  settleMs: number
}
export const POWER_TIMES: PowerTimes = {
  pollMs: 2000,
  deadlineMs: { ON: 120_000, OFF: 300_000, FORCE_OFF: 60_000, RESTART: 300_000, CYCLE: 120_000 },
  settleMs: 20_000,
}

/** Another worker has the run now. */
export class PowerRunTakenOver extends Error {}

export type PowerExecution = {
  open(bmc: NodeBmc): Promise<BmcDriver>
  journal: PowerJournal
  /** Fires when the worker stops or has lost its claim: the next execution continues. */
  signal: AbortSignal
  /** Fires when a person cancels the run: no further command is sent. */
  canceled: AbortSignal
  times?: PowerTimes
}

/**
 * Executes a power run: at most `parallelism` nodes at once, and `delaySeconds` between two commands. A repeated execution sends no command
 * again: it evaluates by the state what an earlier one sent.
 * @throws PowerRunTakenOver; the reason of the signal
 */
export async function executePowerRun({ run, items }: ClaimedPowerRun, execution: PowerExecution): Promise<void> {
  const { signal, canceled } = execution
  // Those that already have their command first, because they count as in progress.
  const queue = items.toSorted((a, b) => Number(b.sentAt !== null) - Number(a.sentAt !== null))
  let nextAt = 0
  const turn = async (): Promise<void> => {
    const at = Math.max(Date.now(), nextAt)
    nextAt = at + run.delaySeconds * 1000
    if (at > Date.now())
      await setTimeout(at - Date.now(), null, { signal: AbortSignal.any([signal, canceled]) }).catch(() =>
        signal.throwIfAborted(),
      )
  }
  const lanes = Array.from({ length: Math.min(run.parallelism, queue.length) }, async () => {
    for (let item = queue.shift(); item; item = queue.shift()) {
      signal.throwIfAborted()
      if (canceled.aborted && item.sentAt === null) continue
      const outcome = await executeItem(run, item, turn, execution)
      if (outcome && !(await execution.journal.result(item.id, outcome))) throw new PowerRunTakenOver()
    }
  })
  await Promise.all(lanes)
}

/** @returns null when the run was canceled before the command */
async function executeItem(
  requested: PowerRun,
  item: Item,
  turn: () => Promise<void>,
  execution: PowerExecution,
): Promise<PowerOutcome | null> {
  const { signal, journal, times = POWER_TIMES } = execution
  const { bmc } = item
  const wasSent = item.sentAt !== null
  const unknown = (message: string): PowerOutcome => ({ result: wasSent ? 'NOT_VERIFIED' : 'UNREACHABLE', after: null, message })
  if (!bmc) return { ...unknown(`The node ${item.nodeName} has no BMC any more.`), result: wasSent ? 'NOT_VERIFIED' : 'REFUSED' }
  let driver: BmcDriver | null = null
  const read = async (): Promise<PowerReading> => {
    const reading = await driver!.readPower()
    await journal.reading(bmc.id, { state: reading.state })
    return reading
  }
  try {
    let before: PowerReading
    try {
      driver = await execution.open(bmc)
      before = await read()
    } catch (error) {
      if (!(error instanceof RedfishError)) throw error
      await journal.reading(bmc.id, { error: error.message, offeredFingerprint: error.fingerprint })
      return unknown(error.message)
    }
    const run = wanted(requested, item.before ?? before.state)
    if (wasSent) {
      const earlier = {
        state: item.before ?? 'UNKNOWN',
        lastReset: item.lastResetBefore,
        bootDevice: null,
        permanentBootDevice: null,
      }
      return await verify(run, earlier, before, true, read, times, signal)
    }
    const early = withoutCommand(run, before)
    if (early) return early
    let prepared: Awaited<ReturnType<BmcDriver['prepare']>>
    try {
      prepared = await driver.prepare(run.action, run.bootDevice)
    } catch (error) {
      if (!(error instanceof RedfishError)) throw error
      return {
        result: isAnswer(error) ? 'REFUSED' : 'UNREACHABLE',
        before: before.state,
        after: before.state,
        message: error.message,
      }
    }
    await turn()
    signal.throwIfAborted()
    const permission = await journal.command(item.id, before, prepared.command)
    if (permission === 'LOST') throw new PowerRunTakenOver()
    if (permission === 'CANCELED') return null
    if (permission !== 'SEND')
      return { result: 'REFUSED', before: before.state, after: before.state, message: permission.refused }
    try {
      await prepared.send()
    } catch (error) {
      if (!(error instanceof RedfishError)) throw error
      if (isAnswer(error)) return { result: 'REFUSED', after: before.state, message: error.message }
      // The answer was lost: the command may have been executed.
      return await verify(run, before, null, true, read, times, signal, error.message)
    }
    return await verify(run, before, null, false, read, times, signal)
  } finally {
    await driver?.close()
  }
}

/** Whether the BMC answered, so that it did not execute the command. */
const isAnswer = ({ kind }: RedfishError): boolean => kind !== 'UNREACHABLE'

/** slurmctld wants a boot of the node: one that is off needs no reset for it. */
const wanted = (run: PowerRun, state: PowerState): PowerRun =>
  run.slurmClusterId && run.action === 'CYCLE' && state === 'OFF' ? { ...run, action: 'ON' } : run

/** The result of a node that needs no command, or for which it makes no sense. */
function withoutCommand({ action, bootDevice }: PowerRun, { state, bootDevice: chosen }: PowerReading): PowerOutcome | null {
  const isReached =
    (action === 'ON' && state === 'ON') ||
    ((action === 'OFF' || action === 'FORCE_OFF') && state === 'OFF') ||
    (action === 'BOOT_ONCE' && chosen !== null && chosen === bootDevice)
  if (isReached) return { result: 'UNCHANGED', before: state, after: state, message: null }
  const needsOn = action === 'RESTART' || action === 'CYCLE' || action === 'NMI'
  if (needsOn && state === 'OFF')
    return { result: 'REFUSED', before: state, after: state, message: 'The node is off. Power it on instead.' }
  return null
}

const NOT_REPEATED =
  'The worker was lost, or the answer of the BMC, while the command was sent. It was not repeated. Check the node, and start the action again if needed.'

/**
 * Reads the state until it shows the effect of a command that was sent.
 * @param isUncertain whether it is not known that the BMC got the command
 */
async function verify(
  { action, bootDevice }: PowerRun,
  before: PowerReading,
  first: PowerReading | null,
  isUncertain: boolean,
  read: () => Promise<PowerReading>,
  { pollMs, deadlineMs, settleMs }: PowerTimes,
  signal: AbortSignal,
  problem: string | null = null,
): Promise<PowerOutcome> {
  if (action === 'NMI')
    return isUncertain
      ? { result: 'NOT_VERIFIED', after: first?.state ?? null, message: problem ?? NOT_REPEATED }
      : { result: 'ACCEPTED', after: before.state, message: null }
  const isReset = action === 'CYCLE' || action === 'RESTART'
  const startedAt = Date.now()
  const until = startedAt + (action === 'BOOT_ONCE' ? settleMs : deadlineMs[action])
  let wasDown = false
  let now = first
  let failure = problem
  for (;;) {
    if (now === null) {
      try {
        now = await read()
        failure = null
      } catch (error) {
        // Some BMCs are silent while they execute a command.
        if (!(error instanceof RedfishError)) throw error
        failure = error.message
      }
    }
    if (now !== null) {
      const { state, lastReset } = now
      if (state !== 'ON' && state !== 'UNKNOWN') wasDown = true
      const hasReset = wasDown || (before.lastReset !== null && lastReset !== null && lastReset !== before.lastReset)
      const isDone =
        action === 'ON'
          ? state === 'ON'
          : action === 'BOOT_ONCE'
            ? now.bootDevice === bootDevice
            : isReset
              ? hasReset && state === 'ON'
              : state === 'OFF'
      if (isDone) return { result: 'DONE', after: state, message: null }
      if (isReset && !wasDown && Date.now() >= startedAt + settleMs && state === 'ON')
        return isUncertain
          ? { result: 'NOT_VERIFIED', after: state, message: problem ?? NOT_REPEATED }
          : before.lastReset === null
            ? {
                result: 'ACCEPTED',
                after: state,
                message: 'The BMC accepted the command and does not report when it reset the machine.',
              }
            : { result: 'NOT_VERIFIED', after: state, message: 'The BMC accepted the command and reports no reset.' }
      if (action === 'BOOT_ONCE' && now.permanentBootDevice !== null && now.permanentBootDevice === bootDevice)
        return {
          result: 'NOT_VERIFIED',
          after: state,
          message: `The BMC has set ${bootDevice} for every boot, not only for the next one. Remove it at the BMC after the boot.`,
        }
      if (action === 'BOOT_ONCE' && now.bootDevice === null && !isUncertain)
        return {
          result: 'ACCEPTED',
          after: state,
          message: 'The BMC accepted the command and does not report the device of the next boot.',
        }
    }
    if (Date.now() >= until) {
      const last = failure ?? `The BMC reports ${now?.state ?? 'no state'}.`
      const why = isUncertain ? NOT_REPEATED : 'The BMC accepted the command, and its effect was not seen in time.'
      const hint = action === 'OFF' ? ' The operating system may ignore the power button; force-off does not ask it.' : ''
      return { result: 'NOT_VERIFIED', after: failure ? 'UNKNOWN' : (now?.state ?? null), message: `${why} ${last}${hint}` }
    }
    now = null
    await setTimeout(pollMs, null, { signal })
  }
}
