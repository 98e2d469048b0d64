import type { SystemCtx } from '@muster/core/context'
import { decryptLedgerSinkSecrets } from '@muster/core/credentials/access'
import { claimLedgerSink, finishLedgerDelivery, type Receipt, recordNodeChanges } from '@muster/core/ledger'
import type { LocalTarget } from '@muster/core/outbound'
import { rememberSecrets } from '../audit/send-entries.ts'
import { outcomeOf } from '../delivery/outcome.ts'
import { deliverEntries } from '../ledger/deliver-entries.ts'
import { workerCtx } from '../worker.ts'
import { reconcileDeliveries } from './deliveries.ts'
import { type Reconciler, reconcile } from './reconcile.ts'

/** The shortest interval of a tenant. A pass without due tenants is one short statement. */
const RECORD_EVERY_MS = 5000
const DELIVER_EVERY_MS = 5000
/** Of one request; well below the lease of a sink. */
const TIMEOUT_MS = 20_000

/** Records changed node metadata in the ledgers of all tenants. */
export const reconcileLedger = (runtime: SystemCtx): Reconciler =>
  reconcile('ledger', RECORD_EVERY_MS, runtime.log, () => recordNodeChanges(runtime))

export type LedgerSinkOptions = { localTargets: readonly LocalTarget[]; timeoutMs?: number; pollMs?: number }

/** Delivers entries of ledgers to the chains of all tenants, at least once, with any number of workers. */
export function reconcileLedgerSinks(
  runtime: SystemCtx,
  workerId: string,
  { timeoutMs = TIMEOUT_MS, ...options }: LedgerSinkOptions,
): Reconciler {
  const secretsOf = rememberSecrets(decryptLedgerSinkSecrets)
  return reconcileDeliveries('ledger sinks', DELIVER_EVERY_MS, runtime.log, {
    claim: () => claimLedgerSink(runtime),
    nameOf: ({ sink }) => sink.name,
    async deliver(claimed, signal) {
      const { sink } = claimed
      const ctx = workerCtx({ runtime, workerId }, { id: sink.id, tenantId: sink.tenantId })
      let receipt: Receipt | undefined
      const failure = await outcomeOf(runtime.log, sink.name, async () => {
        receipt = await deliverEntries(ctx, claimed, { ...options, secretsOf, timeoutMs, signal })
      })
      if (failure)
        runtime.log.warn(
          { sink: sink.name, nodes: claimed.records.length, reason: failure.error },
          'entries of the ledger were not delivered; they will be sent again',
        )
      await finishLedgerDelivery(ctx, claimed, failure ?? receipt!)
    },
  })
}
