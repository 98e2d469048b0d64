import { alertRouteAudit } from '../alerts/audit-actions.ts'
import type { AlertRoute, RouteSecret } from '../alerts/tables.ts'
import type { AuditAction } from '../audit/index.ts'
import { auditSinkAudit } from '../audit-sinks/audit-actions.ts'
import type { AuditSink, SinkSecret } from '../audit-sinks/tables.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { Conflict } from '../kernel/errors.ts'
import { ledgerSinkAudit } from '../ledger/audit-actions.ts'
import type { LedgerSink, LedgerSinkSecret } from '../ledger/tables.ts'
import { openchamiTargetAudit } from '../openchami/audit-actions.ts'
import type { OpenchamiTarget } from '../openchami/tables.ts'
import { auditDecryption } from './audit-decryption.ts'
import { credentialPermissions } from './permissions.ts'

type Target<Field extends string> = { id: string; name: string; encrypted: Partial<Record<Field, string>> }

/**
 * Returns the decrypted address and secret of an alert route.
 * @throws Forbidden when the caller is not a worker
 * @throws Conflict when one cannot be decrypted
 */
export async function decryptRouteSecrets(
  ctx: Ctx,
  route: Pick<AlertRoute, 'id' | 'name' | 'encrypted'>,
): Promise<Partial<Record<RouteSecret, string>>> {
  authorize(ctx, credentialPermissions.decrypt)
  return decryptTarget(ctx, alertRouteAudit.decrypt, 'route', route)
}

/** Like `decryptRouteSecrets`, for an audit sink. */
export async function decryptSinkSecrets(
  ctx: Ctx,
  sink: Pick<AuditSink, 'id' | 'name' | 'encrypted'>,
): Promise<Partial<Record<SinkSecret, string>>> {
  authorize(ctx, credentialPermissions.decrypt)
  return decryptTarget(ctx, auditSinkAudit.decrypt, 'sink', sink)
}

/** Like `decryptRouteSecrets`, for the sink of the ledger. */
export async function decryptLedgerSinkSecrets(
  ctx: Ctx,
  sink: Pick<LedgerSink, 'id' | 'name' | 'encrypted'>,
): Promise<Partial<Record<LedgerSinkSecret, string>>> {
  authorize(ctx, credentialPermissions.decrypt)
  return decryptTarget(ctx, ledgerSinkAudit.decrypt, 'sink', sink)
}

/** Like `decryptRouteSecrets`, for the OpenCHAMI target. */
export async function decryptOpenchamiSecrets(
  ctx: Ctx,
  target: Pick<OpenchamiTarget, 'id' | 'name' | 'encrypted'>,
): Promise<{ token?: string }> {
  authorize(ctx, credentialPermissions.decrypt)
  return decryptTarget(ctx, openchamiTargetAudit.decrypt, 'target', target)
}

async function decryptTarget<Field extends string>(
  ctx: Ctx,
  action: AuditAction,
  label: string,
  { id, name, encrypted }: Target<Field>,
): Promise<Partial<Record<Field, string>>> {
  const records = Object.entries<string | undefined>(encrypted).filter((entry): entry is [string, string] => Boolean(entry[1]))
  if (records.length > 0) await auditDecryption(ctx, action, [{ id, name }])
  const opened = records.map(
    async ([field, record]) => [field, await ctx.vault.open({ tenantId: ctx.tenantId, objectId: id, field }, record)] as const,
  )
  return Promise.all(opened).then(
    (fields) => Object.fromEntries(fields) as Partial<Record<Field, string>>,
    () => {
      throw new Conflict(`The secrets of the ${label} ${name} cannot be decrypted. Save its address and secret again.`)
    },
  )
}
