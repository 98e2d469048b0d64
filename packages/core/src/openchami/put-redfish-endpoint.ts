import { and, eq, like } from 'drizzle-orm'
import { z } from 'zod'
import { credentials } from '../credentials/tables.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../kernel/errors.ts'
import type { LocalTarget } from '../kernel/outbound/index.ts'
import { nodePermissions, parseXname, setNodeBmc } from '../nodes/index.ts'
import { Mac, NodeXname } from '../nodes/network/index.ts'
import { computeNodes, nodeBmcs } from '../nodes/tables.ts'
import { isComponent } from './queries.ts'
import { InterfaceFields, putEthernetInterface } from './write-interfaces.ts'

/** Name of the credential of BMCs that have none yet. */
const CREDENTIAL = 'openchami'

export const PutRedfishEndpointInput = z.object({
  /** Xname of the BMC. */
  xname: z.string(),
  address: z.string(),
  mac: Mac.nullish(),
  /** Its systems, in the order of the nodes. Interfaces name their node by its xname. */
  systems: z
    .array(
      z.object({
        path: z.string(),
        interfaces: z.array(z.object({ xname: NodeXname, ...InterfaceFields })).max(64),
      }),
    )
    .max(100)
    .default([]),
  /** Whether nodes that have a BMC already get this one. */
  replaces: z.boolean(),
})

/**
 * Sets the BMC of the nodes whose xname begins with that of the BMC, and adds their interfaces; all or nothing. BMCs keep their credential; a new one gets the
 * credential `openchami`.
 * @param localTargets the local addresses that the installation allows
 * @throws InvalidInput; NotFound the BMC has no node; Conflict a node has a BMC already, or another node has this one
 */
export async function putRedfishEndpoint(
  ctx: Ctx,
  input: z.input<typeof PutRedfishEndpointInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<void> {
  authorize(ctx, nodePermissions.write)
  const { xname: bmc, address, mac, systems, replaces } = parseInput(PutRedfishEndpointInput, input)
  await inTransaction(ctx, async (tx, ctx) => {
    const nodes = await tx
      .select({ id: computeNodes.id, name: computeNodes.name, xname: computeNodes.xname })
      .from(computeNodes)
      .where(and(isComponent(ctx), like(computeNodes.xname, `${bmcPrefix(bmc)}%`)))
      .orderBy(computeNodes.xname)
    if (nodes.length === 0) throw new NotFound(`The BMC ${bmc} has no node. Add components such as ${bmc}n0 first.`)
    const ids = nodes.map(({ id }) => id)
    const bmcs = await tx
      .select({ nodeId: nodeBmcs.nodeId, credentialId: nodeBmcs.credentialId })
      .from(nodeBmcs)
      .where(and(visibleTo(ctx, nodeBmcs), isOneOf(nodeBmcs.nodeId, ids)))
    const owner = nodes.find(({ id }) => bmcs.some(({ nodeId }) => nodeId === id))
    if (owner && !replaces) throw new Conflict(`The node ${owner.name} has a BMC already.`)
    const [named] = await tx
      .select({ id: credentials.id })
      .from(credentials)
      .where(and(visibleTo(ctx, credentials), eq(credentials.name, CREDENTIAL), eq(credentials.kind, 'BMC')))
    for (const [i, { id }] of nodes.entries()) {
      const credentialId = bmcs.find(({ nodeId }) => nodeId === id)?.credentialId ?? named?.id
      if (!credentialId)
        throw new InvalidInput([
          {
            path: '',
            message: `The BMC ${bmc} needs a credential. Create one of the kind BMC with the name ${CREDENTIAL}, which new Redfish endpoints get.`,
          },
        ])
      const systemPath = nodes.length > 1 ? (systems[i]?.path ?? null) : null
      await setNodeBmc(
        ctx,
        { nodeId: id, protocol: 'REDFISH', address, mac: mac ?? null, credentialId, systemPath },
        localTargets,
      )
    }
    for (const { xname, ...fields } of systems.flatMap(({ interfaces }) => interfaces)) {
      if (!nodes.some((node) => node.xname === xname)) throw new NotFound(`The BMC ${bmc} has no node ${xname}.`)
      await putEthernetInterface(tx, ctx, xname, fields)
    }
  })
}

/** With what the xnames of the nodes of a BMC begin. @throws InvalidInput it is not the xname of a BMC */
export function bmcPrefix(xname: string): string {
  const node = parseXname(`${xname}n0`)
  if (!node) throw new InvalidInput([{ path: 'ID', message: `${xname} is not the xname of a BMC, such as x1000c0s3b0` }])
  const { cabinet, chassis, slot, bmc } = node
  return `x${cabinet}c${chassis}s${slot}b${bmc}n`
}
