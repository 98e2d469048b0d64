import { eq } from 'drizzle-orm'
import type { Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { type LedgerSettings, ledgerSettings } from './tables.ts'

type Settings = Omit<LedgerSettings, 'tenantId' | 'updatedAt'>

/** Settings of tenants that changed none. */
export const DEFAULT_LEDGER_SETTINGS: Settings = {
  isEnabled: false,
  intervalSeconds: 60,
  maxAgeSeconds: 86_400,
  recordedAt: null,
}

/** The ledger settings of a tenant. */
export async function readLedgerSettings(db: Db | Tx, tenantId: string): Promise<Settings> {
  const [row] = await db.select().from(ledgerSettings).where(eq(ledgerSettings.tenantId, tenantId))
  return row ?? DEFAULT_LEDGER_SETTINGS
}
