import { and, isNull } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { nodeGroupAudit } from '../groups/audit-actions.ts'
import { watchGroups } from '../groups/index.ts'
import { nodeGroupMembers, nodeGroups } from '../groups/tables.ts'
import { IdempotencyKey, idempotent, type ResultStore } from '../idempotency/index.ts'
import { authorize, type Ctx, type Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { parseInput } from '../kernel/errors.ts'
import { nodeAudit } from './audit-actions.ts'
import { insertBmcs } from './bmc/write-bmcs.ts'
import { nodeChanged } from './change-events.ts'
import { authorizeConnectionType, checkReferences } from './fields.ts'
import { flagExisting } from './import/flag-rows.ts'
import { NodeImportInput, planImport, report } from './import/plan.ts'
import type { NodeImportReport, PlannedRow } from './import/rows.ts'
import { assertNodeQuota } from './node-quota.ts'
import { nodePermissions } from './permissions.ts'
import { computeNodes } from './tables.ts'
import { insertInterfaces } from './write-interfaces.ts'

export const ImportNodesInput = NodeImportInput.extend({ idempotencyKey: IdempotencyKey })

/** A report without its nodes, which the response reads again. */
type StoredReport = Omit<NodeImportReport, 'rows'> & {
  rows: (Omit<NodeImportReport['rows'][number], 'node'> & { nodeId: string | null })[]
}

/** How a repeated import finds the first report. */
export const nodeImportResult: ResultStore<NodeImportReport> = {
  store: ({ rows, ...counts }) =>
    sanitizeForPostgres({ ...counts, rows: rows.map(({ node, ...row }) => ({ ...row, nodeId: node?.id ?? null })) }),
  async load(tx, ctx, stored) {
    const { rows, ...counts } = stored as StoredReport
    const ids = rows.flatMap((row) => row.nodeId ?? [])
    const nodes = await tx
      .select()
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, ids)))
    const byId = new Map(nodes.map((node) => [node.id, node]))
    return { ...counts, rows: rows.map(({ nodeId, ...row }) => ({ ...row, node: byId.get(nodeId ?? '') ?? null })) }
  },
}

/** Rows per statement, which is limited to 65,535 parameters. */
const CHUNK = 1000

/**
 * Adds nodes from a list, a CSV table or an Ansible inventory. Each row has its own result; an invalid row does not affect
 * others. Missing groups of an inventory are created.
 * @throws InvalidInput at text or defaults; Conflict the tenant's quota of nodes would be exceeded, or a MAC or BMC was taken at the same time; nothing is added
 */
export async function importNodes(ctx: Ctx, input: z.input<typeof ImportNodesInput>): Promise<NodeImportReport> {
  authorize(ctx, nodePermissions.write)
  const { idempotencyKey, ...wanted } = parseInput(ImportNodesInput, input)
  authorizeConnectionType(ctx, wanted.defaults?.connectionType)
  return idempotent(
    ctx,
    { verb: 'importNodes', key: idempotencyKey, input: wanted, result: nodeImportResult },
    async (tx, ctx) => {
      await checkReferences(tx, ctx, wanted.defaults ?? {}, { prefix: 'defaults.' })
      const assertNotInGrant = await watchGroups(tx, ctx, [])
      const rows = await planImport(tx, ctx, wanted)
      // Sorted, so that concurrent imports of the same names do not deadlock.
      const valid = rows.filter((row) => row.state === 'VALID').sort((a, b) => (a.values!.name < b.values!.name ? -1 : 1))
      for (let i = 0; i < valid.length; i += CHUNK) await insertRows(tx, ctx, valid.slice(i, i + CHUNK))
      await assertNodeQuota(tx, ctx)
      // The remaining rows were added concurrently.
      await flagExisting(tx, ctx, valid)
      const added = rows.filter((row) => row.state === 'ADDED')
      await joinGroups(tx, ctx, added)
      await assertNotInGrant(added.map((row) => row.node!.id))
      await audit(
        tx,
        ctx,
        nodeAudit.add,
        added.map((row) => row.node!),
        { import: wanted.format },
      )
      for (const row of added) ctx.notify(nodeChanged({ id: row.node!.id, tenantId: ctx.tenantId }))
      return report(rows)
    },
  )
}

async function insertRows(tx: Tx, ctx: Ctx, rows: PlannedRow[]): Promise<void> {
  const nodes = await tx
    .insert(computeNodes)
    .values(rows.map(({ values }) => ({ ...columnsOf(values!), tenantId: ctx.tenantId })))
    .onConflictDoNothing()
    .returning()
  const byName = new Map(nodes.map((node) => [node.name, node]))
  for (const row of rows) {
    const node = byName.get(row.values!.name)
    if (node) Object.assign(row, { state: 'ADDED', node })
  }
  const added = rows.filter((row) => row.state === 'ADDED')
  await insertInterfaces(
    tx,
    ctx,
    added.map((row) => ({ id: row.node!.id, interfaces: row.values!.interfaces })),
  )
  await insertBmcs(
    tx,
    ctx,
    added.map((row) => ({ id: row.node!.id, bmc: row.values!.bmc })),
  )
}

function columnsOf({ interfaces: _interfaces, bmc: _bmc, ...columns }: NonNullable<PlannedRow['values']>) {
  return columns
}

async function joinGroups(tx: Tx, ctx: Ctx, added: PlannedRow[]): Promise<void> {
  const names = [...new Set(added.flatMap((row) => row.groups))].sort()
  if (names.length === 0) return
  const created = await tx
    .insert(nodeGroups)
    .values(names.map((name) => ({ tenantId: ctx.tenantId, name })))
    .onConflictDoNothing()
    .returning()
  if (created.length > 0) await audit(tx, ctx, nodeGroupAudit.create, created)
  const groups = await tx
    .select({ id: nodeGroups.id, name: nodeGroups.name, exclusiveSet: nodeGroups.exclusiveSet })
    .from(nodeGroups)
    // The query of a group determines its members.
    .where(and(visibleTo(ctx, nodeGroups), isOneOf(nodeGroups.name, names, 'text'), isNull(nodeGroups.memberQuery)))
    .orderBy(nodeGroups.id)
    .for('no key update')
  const byName = new Map(groups.map(({ id, name, exclusiveSet }) => [name, { groupId: id, exclusiveSet }]))
  const members = added.flatMap((row) =>
    [...new Set(row.groups)].flatMap((name) => {
      const group = byName.get(name)
      return group ? [{ ...group, nodeId: row.node!.id }] : []
    }),
  )
  for (let i = 0; i < members.length; i += 10 * CHUNK)
    await tx
      .insert(nodeGroupMembers)
      .values(members.slice(i, i + 10 * CHUNK))
      .onConflictDoNothing()
}
