import { and, ne, or, sql } from 'drizzle-orm'
import { managedGroupReasons } from '../../groups/index.ts'
import { nodeGroups } from '../../groups/tables.ts'
import { hostPort } from '../../kernel/address.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { bmcColumns, bmcTaken, ownersOfBmcs, placeKey } from '../bmc/write-bmcs.ts'
import { identityTakenIssue } from '../identity-conflict.ts'
import { computeNodes } from '../tables.ts'
import { macTaken, ownersOfMacs } from '../write-interfaces.ts'
import type { PlannedRow } from './rows.ts'

const addressOf = (at: { host: string; port: number; bastionId?: string | null | undefined }) =>
  JSON.stringify([at.host, at.port, at.bastionId ?? null])

/**
 * Flags repeated rows: EXISTS for the same node, INVALID for the same name with another address, and for the same xname,
 * NID, MAC or BMC.
 */
export function flagRepeats(rows: PlannedRow[]): void {
  const byXname = new Map<string, PlannedRow>()
  const byNid = new Map<number, PlannedRow>()
  const byMac = new Map<string, PlannedRow>()
  const byBmc = new Map<string, PlannedRow>()
  const byName = new Map<string, PlannedRow>()
  const byAddress = new Map<string, PlannedRow>()
  for (const row of rows) {
    if (!row.values) continue
    const first = byName.get(row.values.name)
    const address = addressOf(row.values)
    if (first) {
      const isSame = addressOf(first.values!) === address
      row.state = isSame ? 'EXISTS' : 'INVALID'
      row.issues = [
        { path: 'name', message: `row ${first.row} has this name${isSame ? ' and address' : ' and another address'}` },
      ]
    } else if (byAddress.has(address)) {
      row.state = 'INVALID'
      row.issues = [{ path: 'host', message: `row ${byAddress.get(address)!.row} has this address under another name` }]
    } else {
      const { name, xname, nid, interfaces } = row.values
      const bmc = row.values.bmc ? placeKey(bmcColumns(row.values.bmc)) : undefined
      const mac = interfaces[0]?.mac
      const clash = [
        { path: 'xname', first: xname ? byXname.get(xname) : undefined, what: 'xname' },
        { path: 'nid', first: nid == null ? undefined : byNid.get(nid), what: 'NID' },
        { path: 'mac', first: mac === undefined ? undefined : byMac.get(mac), what: 'MAC' },
        { path: 'bmc', first: bmc === undefined ? undefined : byBmc.get(bmc), what: 'BMC' },
      ].filter(({ first }) => first !== undefined)
      if (clash.length > 0) {
        row.state = 'INVALID'
        row.issues = clash.map(({ path, first, what }) => ({ path, message: `row ${first!.row} has this ${what}` }))
        continue
      }
      byName.set(name, row)
      byAddress.set(address, row)
      if (xname) byXname.set(xname, row)
      if (nid != null) byNid.set(nid, row)
      if (mac !== undefined) byMac.set(mac, row)
      if (bmc !== undefined) byBmc.set(bmc, row)
    }
  }
}

/**
 * Flags rows with the name, address, xname, NID, MAC or BMC of an existing node. An existing name with another address is INVALID: a user would otherwise
 * work on the wrong machine.
 */
export async function flagExisting(db: Db | Tx, ctx: Ctx, rows: PlannedRow[]): Promise<void> {
  const valid = rows.filter((row) => row.state === 'VALID' && row.values)
  if (valid.length === 0) return
  const nodes = await db
    .select()
    .from(computeNodes)
    .where(
      and(
        visibleTo(ctx, computeNodes),
        or(
          isOneOf(
            computeNodes.name,
            valid.map((row) => row.values!.name),
            'text',
          ),
          isOneOf(
            computeNodes.host,
            valid.map((row) => row.values!.host),
            'text',
          ),
          isOneOf(
            computeNodes.xname,
            valid.flatMap((row) => row.values!.xname ?? []),
            'text',
          ),
          sql`${computeNodes.nid} = any(${sql.param(valid.flatMap((row) => row.values!.nid ?? []))}::int[])`,
        ),
      ),
    )
  const owners = await ownersOfMacs(
    db,
    ctx,
    valid.flatMap((row) => row.values!.interfaces.map(({ mac }) => mac)),
  )
  const bmcs = await ownersOfBmcs(
    db,
    ctx,
    valid.flatMap((row) => (row.values!.bmc ? bmcColumns(row.values!.bmc) : [])),
  )
  const byBmc = new Map(bmcs.map((owner) => [placeKey(owner), owner]))
  const byMac = new Map(owners.map((owner) => [owner.mac, owner]))
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const byAddress = new Map(nodes.map((node) => [addressOf(node), node]))
  const byXname = new Map(nodes.map((node) => [node.xname, node]))
  const byNid = new Map(nodes.map((node) => [node.nid, node]))
  for (const row of valid) {
    const sameName = byName.get(row.values!.name)
    const node = sameName ?? byAddress.get(addressOf(row.values!))
    if (!node) {
      const { xname, nid, interfaces, bmc } = row.values!
      const withXname = xname ? byXname.get(xname) : undefined
      const withNid = nid == null ? undefined : byNid.get(nid)
      const withMac = byMac.get(interfaces[0]?.mac ?? '')
      const withBmc = bmc ? byBmc.get(placeKey(bmcColumns(bmc))) : undefined
      const issues = [
        withXname ? (identityTakenIssue({ xname }, withXname) ?? []) : [],
        withNid ? (identityTakenIssue({ nid }, withNid) ?? []) : [],
        withMac ? { path: 'mac', message: macTaken(withMac) } : [],
        withBmc ? { path: 'bmc', message: bmcTaken(withBmc) } : [],
      ].flat()
      if (issues.length > 0) Object.assign(row, { state: 'INVALID', issues })
      continue
    }
    const isElsewhere = hostPort(node.host, node.port) !== hostPort(row.values!.host, row.values!.port)
    row.state = isElsewhere ? 'INVALID' : 'EXISTS'
    row.node = node
    const there = `${node.name} (${node.status})`
    row.issues = [
      isElsewhere
        ? {
            path: 'name',
            message: `The node ${there} is at ${hostPort(node.host, node.port)}. Update that node, or choose another name.`,
          }
        : sameName
          ? { path: 'name', message: `There is already a node named ${there}.` }
          : { path: 'host', message: `The node ${there} already has this address.` },
    ]
  }
}

/** Flags rows with the group of a managed Slurm cluster. */
export async function flagManagedGroups(db: Db | Tx, ctx: Ctx, rows: PlannedRow[]): Promise<void> {
  const valid = rows.filter((row) => row.state === 'VALID' && row.groups.length > 0)
  const names = [...new Set(valid.flatMap((row) => row.groups))]
  if (names.length === 0) return
  const groups = await db
    .select()
    .from(nodeGroups)
    .where(and(visibleTo(ctx, nodeGroups), isOneOf(nodeGroups.name, names, 'text')))
  const reasons = await managedGroupReasons(db, ctx, groups)
  const byName = new Map(groups.map(({ id, name }) => [name, reasons.get(id)]))
  for (const row of valid) {
    const message = row.groups.map((name) => byName.get(name)).find((reason) => reason !== undefined)
    if (message === undefined) continue
    row.state = 'INVALID'
    row.issues = [{ path: 'groups', message }]
  }
}

/** Flags rows with two groups of one exclusive set. */
export async function flagExclusiveSets(db: Db | Tx, ctx: Ctx, rows: PlannedRow[]): Promise<void> {
  const valid = rows.filter((row) => row.state === 'VALID' && row.groups.length > 1)
  const names = [...new Set(valid.flatMap((row) => row.groups))]
  if (names.length === 0) return
  const groups = await db
    .select({ name: nodeGroups.name, exclusiveSet: nodeGroups.exclusiveSet })
    .from(nodeGroups)
    .where(and(visibleTo(ctx, nodeGroups), isOneOf(nodeGroups.name, names, 'text'), ne(nodeGroups.exclusiveSet, '')))
  const sets = new Map(groups.map((group) => [group.name, group.exclusiveSet]))
  for (const row of valid) {
    const bySet = Map.groupBy(new Set(row.groups), (name) => sets.get(name))
    bySet.delete(undefined)
    const [clash] = [...bySet].filter(([, some]) => some.length > 1)
    if (!clash) continue
    row.state = 'INVALID'
    row.issues = [
      {
        path: 'groups',
        message: `${clash[1].join(' and ')} belong to the exclusive set ${clash[0]}; a node can be in only one of them`,
      },
    ]
  }
}
