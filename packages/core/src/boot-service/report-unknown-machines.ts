import { and, eq, inArray, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { unknownMachineChanged } from './change-events.ts'
import { bootPermissions } from './permissions.ts'
import { type ReportedInterface, type UnknownMachineState, unknownMachines } from './tables.ts'

/** Unknown machines of a tenant that wait for a decision. When more report, those seen longest ago are removed. */
export const MAX_UNKNOWN_MACHINES = 1000
const MAX_TEXT = 128
const MAX_INTERFACES = 16

export type UnknownMachineReport = {
  /** Normalized. */
  mac: string
  arch?: string | null
  serial?: string | null
  systemUuid?: string | null
  interfaces?: ReportedInterface[]
  address: string | null
}

/**
 * Records machines whose MAC no node has, with three statements for any number. Values that a later request omits are kept. An accepted
 * machine that is unknown again, because its node is gone, is NEW again.
 * @returns their states, by MAC
 */
export async function reportUnknownMachines(
  ctx: Ctx,
  reports: readonly UnknownMachineReport[],
): Promise<Map<string, UnknownMachineState>> {
  authorize(ctx, bootPermissions.serve)
  // Sorted, so that concurrent transactions do not deadlock.
  const distinct = [...new Map(reports.map((report) => [report.mac, report])).values()]
    .sort((a, b) => (a.mac < b.mac ? -1 : 1))
    .slice(0, MAX_UNKNOWN_MACHINES)
  if (distinct.length === 0) return new Map()
  return inTransaction(ctx, async (tx, ctx) => {
    const written = await tx
      .insert(unknownMachines)
      .values(
        distinct.map(({ mac, arch, serial, systemUuid, interfaces = [], address }) => ({
          tenantId: ctx.tenantId,
          mac,
          arch: shortText(arch),
          serial: shortText(serial),
          systemUuid: shortText(systemUuid),
          interfaces: interfaces.slice(0, MAX_INTERFACES),
          seenFrom: address,
        })),
      )
      .onConflictDoUpdate({
        target: [unknownMachines.tenantId, unknownMachines.mac],
        set: {
          requests: sql`least(${unknownMachines.requests}, 2147483646) + 1`,
          lastSeenAt: sql`now()`,
          seenFrom: sql`excluded.seen_from`,
          arch: sql`coalesce(excluded.arch, ${unknownMachines.arch})`,
          serial: sql`coalesce(excluded.serial, ${unknownMachines.serial})`,
          systemUuid: sql`coalesce(excluded.system_uuid, ${unknownMachines.systemUuid})`,
          interfaces: sql`case when excluded.interfaces = '[]' then ${unknownMachines.interfaces} else excluded.interfaces end`,
          acceptedAt: null,
          acceptedById: null,
          acceptedByName: null,
          nodeId: null,
        },
      })
      .returning()
    if (written.some(({ requests }) => requests === 1)) await removeOldest(tx, ctx)
    for (const { id } of written) ctx.notify(unknownMachineChanged({ id, tenantId: ctx.tenantId }))
    return new Map(written.map(({ mac, state }) => [mac, state]))
  })
}

/** Anybody in the boot network can invent MACs, so their number is limited. A machine that waits asks again and stays. */
const removeOldest = (tx: Tx, ctx: Ctx) =>
  tx.delete(unknownMachines).where(
    and(
      visibleTo(ctx, unknownMachines),
      inArray(
        unknownMachines.id,
        tx
          .select({ id: unknownMachines.id })
          .from(unknownMachines)
          .where(and(visibleTo(ctx, unknownMachines), eq(unknownMachines.state, 'NEW')))
          .orderBy(sql`${unknownMachines.lastSeenAt} desc, ${unknownMachines.id} desc`)
          .offset(MAX_UNKNOWN_MACHINES),
      ),
    ),
  )

const shortText = (text: string | null | undefined): string | null =>
  text ? (sanitizeForPostgres(text) as string).slice(0, MAX_TEXT) : null
