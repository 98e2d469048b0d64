import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, changeOf } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { ledgerAudit } from './audit-actions.ts'
import { ledgerPermissions } from './permissions.ts'
import { readLedgerSettings } from './settings.ts'
import { type LedgerSettings, ledgerSettings } from './tables.ts'

const seconds = (least: number) =>
  z.number().int('must be a whole number').min(least, `must be at least ${least}`).max(604_800, 'must be at most 604800')

export const UpdateLedgerSettingsInput = z.object({
  /** Whether workers record node metadata. Entries remain when it is disabled. */
  isEnabled: z.boolean().optional(),
  /** Seconds between batches. */
  intervalSeconds: seconds(5).optional(),
  /** Seconds after which a node is recorded again when only its measurements and its last sequence changed. */
  maxAgeSeconds: seconds(60).optional(),
})

/**
 * Enables, disables or changes the ledger of the tenant; omitted fields stay unchanged.
 * @throws InvalidInput when nodes would be recorded again more often than batches
 */
export async function updateLedgerSettings(ctx: Ctx, input: z.input<typeof UpdateLedgerSettingsInput>): Promise<LedgerSettings> {
  authorize(ctx, ledgerPermissions.write)
  const changes = parseInput(UpdateLedgerSettingsInput, input)
  return inTransaction(ctx, async (tx) => {
    // Serializes concurrent updates, so that the checked values are the written ones.
    await tx.execute(sql`select 1 from tenants where id = ${ctx.tenantId} for update`)
    const before = await readLedgerSettings(tx, ctx.tenantId)
    const settings = { ...before, ...changes, tenantId: ctx.tenantId, updatedAt: sql`now()` }
    if (settings.maxAgeSeconds < settings.intervalSeconds)
      throw new InvalidInput([
        { path: 'maxAgeSeconds', message: `must be at least the ${settings.intervalSeconds} s between batches` },
      ])
    const { recordedAt: _recordedAt, ...set } = settings
    const [row] = await tx
      .insert(ledgerSettings)
      .values(settings)
      .onConflictDoUpdate({ target: ledgerSettings.tenantId, set })
      .returning()
    await audit(tx, ctx, ledgerAudit.updateSettings, { id: ctx.tenantId }, changes, {
      change: changeOf(ledgerSettings, before, row!),
    })
    return row!
  })
}
