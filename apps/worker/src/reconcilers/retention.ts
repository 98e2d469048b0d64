import { pruneSessions } from '@muster/core/access'
import type { ArtifactStore } from '@muster/core/artifacts'
import { pruneAuditEntries } from '@muster/core/audit'
import { pruneBootRecords } from '@muster/core/boot-service'
import type { SystemCtx } from '@muster/core/context'
import { pruneIdempotencyKeys } from '@muster/core/idempotency'
import { prunePowerRuns } from '@muster/core/power'
import { applyRetention } from '@muster/core/runs'
import { pruneScheduleFirings } from '@muster/core/schedules'
import { pruneSlurmActions } from '@muster/core/slurm-actions'
import { pruneTriggerDeliveries } from '@muster/core/triggers'
import type { WorkerConfig } from '../config.ts'
import { type Reconciler, reconcile } from './reconcile.ts'

const EVERY_MS = 10 * 60_000

/** Removes logs, artifacts, runs, Slurm actions and operations, power runs and discoveries of BMCs, tests of controllers, boots, the history of schedules and triggers, unknown machines and audit entries past their retention, expired sessions and old idempotency keys. */
export function reconcileRetention(
  runtime: SystemCtx,
  store: ArtifactStore,
  { INSTALLATION_AUDIT_RETENTION_DAYS }: Pick<WorkerConfig, 'INSTALLATION_AUDIT_RETENTION_DAYS'>,
): Reconciler {
  return reconcile('retention', EVERY_MS, runtime.log, async () => {
    const counts = {
      ...(await applyRetention(runtime, store)),
      ...(await pruneSlurmActions(runtime)),
      ...(await prunePowerRuns(runtime)),
      ...(await pruneBootRecords(runtime)),
      scheduleFirings: await pruneScheduleFirings(runtime),
      triggerDeliveries: await pruneTriggerDeliveries(runtime),
      auditEntries: await pruneAuditEntries(runtime, INSTALLATION_AUDIT_RETENTION_DAYS),
      sessions: await pruneSessions(runtime),
      idempotencyKeys: await pruneIdempotencyKeys(runtime),
    }
    if (Object.values(counts).some((count) => count > 0)) runtime.log.info(counts, 'applied retention')
  })
}
