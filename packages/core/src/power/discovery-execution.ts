import { and, eq, gte, isNull, lte, or, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { expandAddresses } from './addresses.ts'
import { bmcDiscoveryAudit } from './audit-actions.ts'
import { bmcDiscoveryChanged } from './change-events.ts'
import { matchNodes } from './match-nodes.ts'
import { powerPermissions } from './permissions.ts'
import { type BmcDiscovery, type BmcInventory, bmcDiscoveries, type FoundBmc, foundBmcs, type PowerState } from './tables.ts'

const claimedUntil = sql`now() + interval '60 seconds'`
type Claim = { id: string; token: string }

/** Claims a search. @returns it with the addresses that were not asked yet; null when another worker has it, or it ended */
export async function claimBmcDiscovery(
  ctx: Ctx,
  { id, token }: Claim,
): Promise<{ discovery: BmcDiscovery; addresses: string[] } | null> {
  authorize(ctx, powerPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [discovery] = await tx
      .update(bmcDiscoveries)
      .set({ claimToken: token, claimedUntil, startedAt: sql`coalesce(${bmcDiscoveries.startedAt}, now())` })
      .where(
        and(
          visibleTo(ctx, bmcDiscoveries),
          eq(bmcDiscoveries.id, id),
          isNull(bmcDiscoveries.finishedAt),
          or(isNull(bmcDiscoveries.claimedUntil), lte(bmcDiscoveries.claimedUntil, sql`now()`)),
        ),
      )
      .returning()
    if (!discovery) return null
    const expanded = expandAddresses(discovery.addresses)
    ctx.notify(bmcDiscoveryChanged(discovery))
    // Addresses are recorded in their order, so that a lost worker repeats only those of its last seconds.
    return { discovery, addresses: 'addresses' in expanded ? expanded.addresses.slice(discovery.probedCount) : [] }
  })
}

async function renew(tx: Tx, ctx: Ctx, { id, token }: Claim): Promise<BmcDiscovery | null> {
  const [discovery] = await tx
    .update(bmcDiscoveries)
    .set({ claimedUntil })
    .where(
      and(
        visibleTo(ctx, bmcDiscoveries),
        eq(bmcDiscoveries.id, id),
        eq(bmcDiscoveries.claimToken, token),
        isNull(bmcDiscoveries.finishedAt),
        gte(bmcDiscoveries.claimedUntil, sql`now()`),
      ),
    )
    .returning()
  return discovery ?? null
}

export type ProbedBmc = {
  address: string
  fingerprint: string | null
  product: string | null
  message: string | null
  /** Empty when no system was read. */
  systems: { path: string; inventory: BmcInventory; state: PowerState }[]
}

type FoundRow = Pick<FoundBmc, 'address' | 'fingerprint' | 'product' | 'message' | 'systemPath' | 'inventory' | 'reportedState'>

/**
 * Stores what was found at the next `probed` addresses.
 * @returns LOST the worker must stop; CANCELED a person ended the search
 */
export async function recordFoundBmcs(
  ctx: Ctx,
  { probed, found, ...claim }: Claim & { probed: number; found: ProbedBmc[] },
): Promise<'OK' | 'LOST' | 'CANCELED'> {
  authorize(ctx, powerPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const discovery = await renew(tx, ctx, claim)
    if (!discovery) return 'LOST'
    const rows = found.flatMap(({ systems, ...bmc }): FoundRow[] =>
      systems.length === 0
        ? [{ ...bmc, systemPath: '', inventory: null, reportedState: null }]
        : systems.map(({ path, inventory, state }) => ({
            ...bmc,
            systemPath: systems.length === 1 ? '' : path,
            inventory,
            reportedState: state,
          })),
    )
    const matches = await matchNodes(tx, ctx, discovery.port, rows)
    if (rows.length > 0)
      await tx
        .insert(foundBmcs)
        .values(
          rows.map((row, i) => ({
            ...sanitizeForPostgres(row),
            ...matches[i]!,
            tenantId: ctx.tenantId,
            discoveryId: discovery.id,
            port: discovery.port,
          })),
        )
        .onConflictDoNothing()
    await tx
      .update(bmcDiscoveries)
      .set({
        probedCount: sql`${bmcDiscoveries.probedCount} + ${probed}`,
        foundCount: sql`(select count(*) from ${foundBmcs} where ${foundBmcs.discoveryId} = ${discovery.id})`,
      })
      .where(eq(bmcDiscoveries.id, discovery.id))
    ctx.notify(bmcDiscoveryChanged(discovery))
    return discovery.cancelRequestedAt ? 'CANCELED' : 'OK'
  })
}

/** Ends a search. @param error for the operator; null when all addresses were asked, or a person canceled it */
export async function finishBmcDiscovery(ctx: Ctx, { error, ...claim }: Claim & { error: string | null }): Promise<void> {
  authorize(ctx, powerPermissions.report)
  await inTransaction(ctx, async (tx, ctx) => {
    const discovery = await renew(tx, ctx, claim)
    if (!discovery) return
    const [ended] = await tx
      .update(bmcDiscoveries)
      .set({ finishedAt: sql`now()`, claimedUntil: null, error: error && sanitizeForPostgres(error) })
      .where(eq(bmcDiscoveries.id, discovery.id))
      .returning()
    const { status, probedCount, foundCount } = ended!
    await audit(
      tx,
      ctx,
      bmcDiscoveryAudit.finish,
      { id: ended!.id, name: ended!.addresses[0]! },
      { status, probedCount, foundCount },
    )
    ctx.notify(bmcDiscoveryChanged(discovery))
  })
}
