import { randomUUID } from 'node:crypto'
import {
  claimPowerRun,
  finishPowerRun,
  type PowerState,
  powerRunCancelRequested,
  recordBmcReading,
  recordPowerCommand,
  recordPowerResult,
  renewPowerRun,
} from '@muster/core/power'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import { executePowerRun, type PowerExecution, PowerRunTakenOver, type PowerTimes } from '../redfish/execute-power-run.ts'
import { type BmcLogins, openDriver } from '../redfish/open-driver.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

/** Well below the duration of a claim. */
const RENEW_MS = 5000

type Deps = WorkerDeps<Pick<NodeConfig, 'LOCAL_TARGETS'>> & { logins: BmcLogins; powerTimes?: PowerTimes }

/**
 * Executes a power run. A run that the worker cannot end, because it stops, is continued by another one after the claim expires.
 */
export function powerRunHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    const claim = { id: entry.id, token: randomUUID() }
    const claimed = await retryTransient(() => claimPowerRun(ctx, claim))
    if (!claimed) return
    const lost = new AbortController()
    const canceled = new AbortController()
    if (claimed.run.cancelRequestedAt) canceled.abort()
    const renew = async () => {
      const kept = await retryTransient(() => renewPowerRun(ctx, claim))
      if (!kept) lost.abort(new PowerRunTakenOver())
      else if (kept.isCanceled) canceled.abort()
    }
    const timer = setInterval(() => renew().catch((error: unknown) => lost.abort(error)), RENEW_MS)
    const unsubscribe = deps.listener.on(powerRunCancelRequested, entry.id, () => renew().catch(() => {}))
    const signal = AbortSignal.any([deps.stopping, lost.signal])
    const limits = { localTargets: deps.config.LOCAL_TARGETS, signal }
    const execution: PowerExecution = {
      ...{ signal, canceled: canceled.signal },
      ...(deps.powerTimes ? { times: deps.powerTimes } : {}),
      open: (bmc) => openDriver(ctx, bmc, deps.logins, limits),
      journal: {
        command: (itemId, { state: before, lastReset }: { state: PowerState; lastReset: string | null }, command) =>
          retryTransient(() => recordPowerCommand(ctx, { ...claim, itemId, before, lastReset, command })),
        result: (itemId, outcome) => retryTransient(() => recordPowerResult(ctx, { ...claim, itemId, ...outcome })),
        reading: (bmcId, report) =>
          retryTransient(() => recordBmcReading(ctx, bmcId, 'state' in report ? { ...report, details: null } : report)),
      },
    }
    try {
      await executePowerRun(claimed, execution)
      await retryTransient(() => finishPowerRun(ctx, claim))
    } catch (error) {
      if (!signal.aborted && !(error instanceof PowerRunTakenOver)) throw error
    } finally {
      clearInterval(timer)
      unsubscribe()
    }
  }
}
