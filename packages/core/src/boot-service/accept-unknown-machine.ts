import { and, eq, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { Host, NodeName } from '../kernel/address.ts'
import { actorColumns, authorize, type Ctx } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { addNode, updateNode } from '../nodes/index.ts'
import { computeNodes, nodeInterfaces } from '../nodes/tables.ts'
import { unknownMachineAudit } from './audit-actions.ts'
import { unknownMachineChanged } from './change-events.ts'
import { unknownMachinePermissions } from './permissions.ts'
import { acceptUnknownMachineBlockedReason } from './policy.ts'
import { type UnknownMachine, unknownMachines } from './tables.ts'

export const AcceptUnknownMachineInput = z
  .object({
    id: Id,
    /** An existing node, which gets the MAC. */
    nodeId: Id.nullish(),
    /** Name and address of a new node. Default of the address: the name. */
    name: NodeName.nullish(),
    host: Host.nullish(),
    idempotencyKey: IdempotencyKey,
  })
  .superRefine(({ nodeId, name, host }, ctx) => {
    if (Boolean(nodeId) === Boolean(name))
      ctx.addIssue({ code: 'custom', path: ['nodeId'], message: 'give either an existing node or the name of a new one' })
    if (nodeId && host) ctx.addIssue({ code: 'custom', path: ['host'], message: 'an existing node keeps its address' })
  })

/**
 * Makes a machine a node: adds its interfaces to an existing node, or adds a node. The interface that asked becomes the boot interface.
 * Needs `node:write` for the change of the node. A rejected machine can be accepted.
 * @throws InvalidInput, NotFound
 * @throws Conflict the machine is already accepted, the name is taken, or another node has one of the MACs
 */
export async function acceptUnknownMachine(ctx: Ctx, input: z.input<typeof AcceptUnknownMachineInput>): Promise<UnknownMachine> {
  authorize(ctx, unknownMachinePermissions.write)
  const { idempotencyKey, ...fields } = parseInput(AcceptUnknownMachineInput, input)
  const { id, nodeId: givenNodeId, name, host } = fields
  const request = { verb: 'acceptUnknownMachine', key: idempotencyKey, input: fields, result: oneRow(unknownMachines) }
  return idempotent(ctx, request, async (tx, ctx) => {
    const isWanted = and(visibleTo(ctx, unknownMachines), eq(unknownMachines.id, id), ne(unknownMachines.state, 'ACCEPTED'))
    const [found] = await tx.select().from(unknownMachines).where(isWanted).for('update')
    if (!found)
      throw await notFoundOrConflict(tx, ctx, unknownMachines, id, 'unknown machine', (row) =>
        acceptUnknownMachineBlockedReason(ctx.actor, row),
      )
    const nodeId = givenNodeId
      ? await addInterfaces(ctx, givenNodeId, found)
      : (await addNode(ctx, { name: name!, host: host ?? name!, interfaces: interfacesOf(found, []) })).id
    const [machine] = await tx
      .update(unknownMachines)
      .set({
        acceptedAt: sql`now()`,
        ...actorColumns(ctx, 'accepted'),
        nodeId,
        rejectedAt: null,
        rejectedById: null,
        rejectedByName: null,
        rejectedReason: null,
      })
      .where(isWanted)
      .returning()
    await audit(tx, ctx, unknownMachineAudit.accept, { id, name: found.mac }, { nodeId })
    ctx.notify(unknownMachineChanged({ id, tenantId: ctx.tenantId }))
    return machine!
  })
}

type Interface = Pick<typeof nodeInterfaces.$inferSelect, 'name' | 'mac' | 'isBoot' | 'addresses'>

/** The machine's interfaces added to those of a node. Names that are taken or invalid become `net0`, `net1` and so on. */
function interfacesOf({ mac, interfaces }: UnknownMachine, existing: Interface[]): Interface[] {
  const all: Interface[] = existing.map((each) => ({ ...each, isBoot: false }))
  const reported = [...interfaces.filter((each) => each.mac !== mac), { name: '', mac }]
  for (const { name, mac: own } of [...reported].reverse()) {
    if (all.some((each) => each.mac === own)) continue
    const isFree = (candidate: string) => !all.some((each) => each.name === candidate)
    const known = interfaces.find((each) => each.mac === own)?.name ?? name
    let number = 0
    while (!isFree(`net${number}`)) number++
    const usable = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,31}$/.test(known) && isFree(known) ? known : `net${number}`
    all.push({ name: usable, mac: own, isBoot: false, addresses: [] })
  }
  return all.map((each) => ({ ...each, isBoot: each.mac === mac }))
}

async function addInterfaces(ctx: Ctx, nodeId: string, machine: UnknownMachine): Promise<string> {
  const [node] = await ctx.db
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, nodeId)))
  if (!node) throw new NotFound(`There is no node ${nodeId}.`)
  const existing = await ctx.db
    .select()
    .from(nodeInterfaces)
    .where(and(visibleTo(ctx, nodeInterfaces), eq(nodeInterfaces.nodeId, nodeId)))
    .orderBy(nodeInterfaces.position)
  const kept = existing.map(({ name, mac, isBoot, addresses }) => ({ name, mac, isBoot, addresses }))
  await updateNode(ctx, { id: nodeId, interfaces: interfacesOf(machine, kept) })
  return nodeId
}
