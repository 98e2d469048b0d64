import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { nodePermissions, updateNode } from '../nodes/index.ts'
import { InterfaceAddresses, InterfaceName, Mac, NodeXname } from '../nodes/network/index.ts'
import { computeNodes, type NodeInterface, nodeInterfaces } from '../nodes/tables.ts'
import { isComponent } from './queries.ts'

export const InterfaceFields = {
  mac: Mac,
  /** Becomes the name of the interface when it can be one. */
  description: z.string().max(1000).nullish(),
  addresses: InterfaceAddresses,
}
export const AddEthernetInterfaceInput = z.object({ xname: NodeXname, ...InterfaceFields })
export const UpdateEthernetInterfaceInput = z.object({
  mac: Mac,
  /** Another node gets the interface. */
  xname: NodeXname.nullish(),
  addresses: InterfaceAddresses.nullable(),
})
const MacInput = z.object({ mac: Mac })

/**
 * Adds an interface to the node with this xname. The first interface of a node is the one it boots from. A node whose host is still its
 * xname gets the first address as its host.
 * @throws InvalidInput; NotFound the node; Conflict the MAC is taken
 */
export async function addEthernetInterface(ctx: Ctx, input: z.input<typeof AddEthernetInterfaceInput>): Promise<void> {
  authorize(ctx, nodePermissions.write)
  const { xname, mac, description, addresses } = parseInput(AddEthernetInterfaceInput, input)
  await inTransaction(ctx, async (tx, ctx) => {
    await assertFree(tx, ctx, mac)
    await add(tx, ctx, xname, { mac, description, addresses })
  })
}

/**
 * Changes the addresses of an interface, or moves it to another node.
 * @throws InvalidInput; NotFound the interface or node
 */
export async function updateEthernetInterface(ctx: Ctx, input: z.input<typeof UpdateEthernetInterfaceInput>): Promise<void> {
  authorize(ctx, nodePermissions.write)
  const { xname, mac, addresses } = parseInput(UpdateEthernetInterfaceInput, input)
  await inTransaction(ctx, async (tx, ctx) => {
    const { node, one, interfaces } = await find(tx, ctx, mac)
    const changed = { ...one, addresses: addresses ?? one.addresses }
    if (!xname || xname === node.xname)
      return void (await updateNode(ctx, {
        id: node.id,
        interfaces: interfaces.map((each) => (each.mac === mac ? changed : each)),
      }))
    await updateNode(ctx, { id: node.id, interfaces: interfaces.filter((each) => each.mac !== mac) })
    await add(tx, ctx, xname, { ...changed, description: one.name })
  })
}

/** Removes an interface from its node. @throws NotFound */
export async function removeEthernetInterface(ctx: Ctx, input: z.input<typeof MacInput>): Promise<void> {
  authorize(ctx, nodePermissions.write)
  const { mac } = parseInput(MacInput, input)
  await inTransaction(ctx, async (tx, ctx) => {
    const { node, interfaces } = await find(tx, ctx, mac)
    await updateNode(ctx, { id: node.id, interfaces: interfaces.filter((each) => each.mac !== mac) })
  })
}

/** Adds an interface to a node, or changes the addresses of the one that has the MAC, which the node gets. */
export async function putEthernetInterface(tx: Tx, ctx: Ctx, xname: string, { mac, addresses, description }: New): Promise<void> {
  if (await nodeOf(tx, ctx, mac)) await updateEthernetInterface(ctx, { xname, mac, addresses })
  else await add(tx, ctx, xname, { mac, addresses, description })
}

type New = Pick<NodeInterface, 'mac' | 'addresses'> & { description?: string | null | undefined }

async function add(tx: Tx, ctx: Ctx, xname: string, { mac, addresses, description }: New): Promise<void> {
  const [node] = await tx
    .select({ id: computeNodes.id, host: computeNodes.host, xname: computeNodes.xname })
    .from(computeNodes)
    .where(and(isComponent(ctx), eq(computeNodes.xname, xname)))
    .for('no key update')
  if (!node) throw new NotFound(`There is no node with the xname ${xname}. Add the component first.`)
  const interfaces = await interfacesOf(tx, ctx, node.id)
  const names = new Set(interfaces.map(({ name }) => name))
  const wanted = InterfaceName.safeParse(description ?? '').data
  const free = Array.from({ length: interfaces.length + 1 }, (_, i) => `eth${i}`).find((name) => !names.has(name))!
  const name = wanted !== undefined && !names.has(wanted) ? wanted : free
  const isBoot = !interfaces.some(({ isBoot }) => isBoot)
  const host = node.host === node.xname && addresses[0] ? { host: addresses[0].address } : {}
  await updateNode(ctx, { id: node.id, ...host, interfaces: [...interfaces, { name, mac, isBoot, addresses }] })
}

const interfacesOf = async (tx: Tx, ctx: Ctx, nodeId: string) =>
  tx
    .select({
      name: nodeInterfaces.name,
      mac: nodeInterfaces.mac,
      isBoot: nodeInterfaces.isBoot,
      addresses: nodeInterfaces.addresses,
    })
    .from(nodeInterfaces)
    .where(and(visibleTo(ctx, nodeInterfaces), eq(nodeInterfaces.nodeId, nodeId)))
    .orderBy(nodeInterfaces.position)

const nodeOf = async (tx: Tx, ctx: Ctx, mac: string) => {
  const [node] = await tx
    .select({ id: computeNodes.id, xname: computeNodes.xname, name: computeNodes.name })
    .from(computeNodes)
    .innerJoin(nodeInterfaces, eq(nodeInterfaces.nodeId, computeNodes.id))
    .where(and(visibleTo(ctx, nodeInterfaces), eq(nodeInterfaces.mac, mac)))
    .for('no key update', { of: computeNodes })
  return node
}

async function assertFree(tx: Tx, ctx: Ctx, mac: string): Promise<void> {
  const owner = await nodeOf(tx, ctx, mac)
  if (owner)
    throw new Conflict(
      `The node ${owner.name} already has an interface with the MAC ${mac}. Remove it there, or enter another one.`,
    )
}

async function find(tx: Tx, ctx: Ctx, mac: string) {
  const node = await nodeOf(tx, ctx, mac)
  if (!node) throw new NotFound(`There is no interface with the MAC ${mac}.`)
  const interfaces = await interfacesOf(tx, ctx, node.id)
  return { node, interfaces, one: interfaces.find((each) => each.mac === mac)! }
}
