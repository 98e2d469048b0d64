import { sealAuditEntries } from '@muster/core/audit'
import { checkAuditSinks, claimAuditSink, finishAuditDelivery } from '@muster/core/audit-sinks'
import type { SystemCtx } from '@muster/core/context'
import type { LocalTarget } from '@muster/core/outbound'
import { rememberSinkSecrets, sendEntries } from '../audit/send-entries.ts'
import { outcomeOf } from '../delivery/outcome.ts'
import { auditDeliveries } from '../metrics.ts'
import { workerCtx } from '../worker.ts'
import { reconcileDeliveries } from './deliveries.ts'
import { type Reconciler, reconcile } from './reconcile.ts'

/** A row is part of the chain within five seconds. */
const SEAL_EVERY_MS = 2000
const DELIVER_EVERY_MS = 2000
const CHECK_EVERY_MS = 30_000
/** Well below the lease of a sink. */
const TIMEOUT_MS = 20_000

/** Appends new rows of the audit log to the chains of their tenants. */
export const reconcileAudit = (runtime: SystemCtx): Reconciler =>
  reconcile('audit', SEAL_EVERY_MS, runtime.log, () => sealAuditEntries(runtime))

export type SinkOptions = {
  localTargets: readonly LocalTarget[]
  /** Host of the installation, in messages of syslog. */
  hostname: string
  timeoutMs?: number
}

/** Delivers sealed entries to the sinks of all tenants: at least once, in order per sink, with any number of workers. */
export function reconcileAuditSinks(
  runtime: SystemCtx,
  workerId: string,
  { timeoutMs = TIMEOUT_MS, ...options }: SinkOptions,
): Reconciler {
  const secretsOf = rememberSinkSecrets()
  const deliveries = reconcileDeliveries('audit sinks', DELIVER_EVERY_MS, runtime.log, {
    claim: () => claimAuditSink(runtime),
    nameOf: ({ sink }) => sink.name,
    async deliver(claimed, signal) {
      const { sink, entries } = claimed
      const ctx = workerCtx({ runtime, workerId }, { id: sink.id, tenantId: sink.tenantId })
      const attempt = () => sendEntries(ctx, claimed, { ...options, secretsOf, timeoutMs, signal })
      const outcome = await outcomeOf(runtime.log, sink.name, attempt)
      auditDeliveries.inc({ kind: sink.kind, result: outcome ? 'failed' : 'ok' })
      if (outcome)
        runtime.log.warn(
          { sink: sink.name, entries: entries.length, reason: outcome.error },
          'audit entries were not delivered; they will be sent again',
        )
      await finishAuditDelivery(ctx, claimed, outcome)
    },
  })
  const checks = reconcile('delays of audit sinks', CHECK_EVERY_MS, runtime.log, () => checkAuditSinks(runtime))
  return {
    trigger: deliveries.trigger,
    stop: async () => void (await Promise.all([deliveries.stop(), checks.stop()])),
  }
}
