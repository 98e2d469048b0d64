import { sealAuditEntries } from '@muster/core/audit'
import type { SystemCtx } from '@muster/core/context'
import { type Reconciler, reconcile } from './reconcile.ts'

/** A row is part of the chain within five seconds. */
const SEAL_EVERY_MS = 2000

/** Appends new rows of the audit log to the chains of their tenants. */
export const reconcileAudit = (runtime: SystemCtx): Reconciler =>
  reconcile('audit', SEAL_EVERY_MS, runtime.log, () => sealAuditEntries(runtime))
