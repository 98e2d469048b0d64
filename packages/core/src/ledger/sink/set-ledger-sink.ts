import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { newId } from '../../kernel/db/columns.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import { HookUrl, type LocalTarget, targetIssues, targetsOf } from '../../kernel/outbound/index.ts'
import { ledgerSinkAudit } from '../audit-actions.ts'
import { ledgerPermissions } from '../permissions.ts'
import { LEDGER_SINK_SECRETS, type LedgerSink, ledgerSinks } from '../tables.ts'

const DEFAULTS = {
  name: 'chain',
  typeUrl: '/muster.ledger.v1.MsgUpdateNodeMetadata',
  providerAddress: null,
  feePerNode: 500,
  gasPerNode: 100_000,
  isEnabled: true,
}

export const SetLedgerSinkInput = z.object({
  name: singleLineText(100).optional(),
  /** CometBFT RPC. */
  url: HookUrl.optional(),
  /** secp256k1 key of the account that signs and pays, 32 bytes in hexadecimal digits. */
  privateKey: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'must be a secp256k1 key of 64 hexadecimal digits')
    .optional(),
  chainId: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,50}$/, 'must be the ID of the chain, such as akashnet-2')
    .optional(),
  addressPrefix: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,19}$/, 'must be the prefix of the addresses of the chain, such as akash')
    .optional(),
  typeUrl: z
    .string()
    .regex(/^\/[A-Za-z][\w.]{0,199}$/, 'must be a type URL, such as /virtengine.hpc.v1.MsgUpdateNodeMetadata')
    .optional(),
  providerAddress: singleLineText(200).nullish(),
  feeDenom: z
    .string()
    .regex(/^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/, 'must be a denomination, such as uakt')
    .optional(),
  feePerNode: z.int().min(0).max(1_000_000_000_000).optional(),
  gasPerNode: z.int().min(1000, 'must be at least 1000').max(10_000_000).optional(),
  isEnabled: z.boolean().optional(),
})

/**
 * Sets or changes the chain that gets the entries of the ledger; omitted fields stay unchanged. A chain starts with the entries that
 * exist. Another chain ID starts from the first entry, and discards a pending transaction.
 * @throws InvalidInput a new sink lacks a required field, or the URL is not allowed
 */
export async function setLedgerSink(
  ctx: Ctx,
  input: z.input<typeof SetLedgerSinkInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<LedgerSink> {
  authorize(ctx, ledgerPermissions.write)
  const { url, privateKey, ...changes } = parseInput(SetLedgerSinkInput, input)
  const issues = await targetIssues(targetsOf({ url }), localTargets)
  if (issues.length > 0) throw new InvalidInput(issues)
  const [known] = await ctx.db.select().from(ledgerSinks).where(visibleTo(ctx, ledgerSinks))
  const id = known?.id ?? newId()
  const secrets = { url, privateKey }
  const added: LedgerSink['encrypted'] = {}
  for (const field of LEDGER_SINK_SECRETS)
    if (secrets[field]) added[field] = await ctx.vault.encrypt({ tenantId: ctx.tenantId, objectId: id, field }, secrets[field])
  return inTransaction(ctx, async (tx, ctx) => {
    await tx.execute(sql`select 1 from tenants where id = ${ctx.tenantId} for update`)
    const [before] = await tx.select().from(ledgerSinks).where(visibleTo(ctx, ledgerSinks)).for('no key update')
    const fields = { ...DEFAULTS, ...before, ...changes }
    const encrypted = { ...before?.encrypted, ...added }
    const { chainId, addressPrefix, feeDenom } = fields
    const missing = Object.entries({ url: encrypted.url, privateKey: encrypted.privateKey, chainId, addressPrefix, feeDenom })
      .filter(([, value]) => value === undefined)
      .map(([path]) => ({ path, message: 'is required for a new sink' }))
    if (missing.length > 0) throw new InvalidInput(missing)
    const isOther = !before || before.chainId !== chainId
    const row = {
      ...fields,
      id: before?.id ?? id,
      tenantId: ctx.tenantId,
      chainId: chainId!,
      addressPrefix: addressPrefix!,
      feeDenom: feeDenom!,
      origin: url ? new URL(url).origin : before!.origin,
      encrypted,
      ...(privateKey ? { address: null } : {}),
      deliveredSize: isOther ? 0 : before.deliveredSize,
      deliveredAt: isOther ? null : before.deliveredAt,
      ...(isOther || privateKey ? { pendingTransaction: null, pendingSequence: null, pendingSize: null } : {}),
      // A delivery in progress loses its claim: its result is not that of the changed sink.
      ...{ leasedUntil: null, leaseToken: null, attempts: 0, failingSince: null, lastError: null, retryAt: null },
      updatedAt: sql`now()`,
    }
    const [sink] = before
      ? await tx.update(ledgerSinks).set(row).where(visibleTo(ctx, ledgerSinks)).returning()
      : await tx.insert(ledgerSinks).values(row).returning()
    await audit(tx, ctx, ledgerSinkAudit.set, sink!, { changed: Object.keys(input) })
    return sink!
  })
}
