import { findBmc, recordBmcReading } from '@muster/core/power'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import { type BmcLogins, openDriver } from '../redfish/open-driver.ts'
import { RedfishError } from '../redfish/redfish-client.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<Pick<NodeConfig, 'LOCAL_TARGETS'>>, 'listener'> & { logins: BmcLogins }

/** Reads the power state of a BMC; and inventory, sensors and events when a person requested them, or they were never read. */
export function bmcReadHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    const bmc = await retryTransient(() => findBmc(ctx, entry.id))
    if (!bmc) return
    const limits = { localTargets: deps.config.LOCAL_TARGETS, signal: deps.stopping }
    try {
      const driver = await openDriver(ctx, bmc, deps.logins, limits)
      try {
        const { state } = await driver.readPower()
        const details = bmc.needsDetails ? await driver.readDetails() : null
        await retryTransient(() => recordBmcReading(ctx, bmc.id, { state, details }))
      } finally {
        await driver.close()
      }
    } catch (error) {
      if (deps.stopping.aborted) return
      if (!(error instanceof RedfishError)) throw error
      const report = { error: error.message, offeredFingerprint: error.fingerprint }
      await retryTransient(() => recordBmcReading(ctx, bmc.id, report))
    }
  }
}
