import { NotFound } from '@muster/core/errors'
import { type NodeBmc, normalizeXname, removeNodeBmc } from '@muster/core/nodes'
import { type Component, readComponents } from '@muster/core/openchami'
import type { Ctx } from '@muster/core/registry'
import { done, matches } from './filters.ts'
import { bmcXname } from './redfish-endpoints.ts'
import type { Answer, OpenchamiRequest } from './request.ts'

export const FILTERS = ['id', 'redfish_ep', 'type', 'redfish_type']

/** A node as its BMC knows it. */
type ComponentEndpoint = { node: Component; bmc: NodeBmc }

const readAll = async (ctx: Ctx): Promise<ComponentEndpoint[]> =>
  (await readComponents(ctx)).flatMap((node) => (node.bmc?.protocol === 'REDFISH' ? [{ node, bmc: node.bmc }] : []))

/** Without a path, the BMC has one system, and the path is unknown until a worker reads it. */
function toEndpoint({ node: { xname, interfaces }, bmc: { address, systemPath } }: ComponentEndpoint) {
  const host = address.includes(':') ? `[${address}]` : address
  const boot = interfaces.find(({ isBoot }) => isBoot) ?? interfaces[0]
  return {
    ...{ ID: xname, Type: 'Node', RedfishType: 'ComputerSystem', RedfishSubtype: 'Physical' },
    ComponentEndpointType: 'ComponentEndpointComputerSystem',
    ...(boot ? { MACAddr: boot.mac } : {}),
    OdataID: systemPath,
    RedfishEndpointID: bmcXname(xname),
    RedfishEndpointFQDN: address,
    Enabled: true,
    RedfishURL: `${host}${systemPath}`,
    RedfishSystemInfo: { EthernetNICInfo: interfaces.map(({ name, mac }) => ({ RedfishId: name, MACAddress: mac })) },
  }
}

export async function list({ ctx, query }: OpenchamiRequest): Promise<Answer> {
  const ComponentEndpoints = (await readAll(ctx))
    .map(toEndpoint)
    .filter(
      (one) =>
        matches(query, 'id', [one.ID]) &&
        matches(query, 'redfish_ep', [one.RedfishEndpointID]) &&
        matches(query, 'type', [one.Type]) &&
        matches(query, 'redfish_type', [one.RedfishType]),
    )
  return { status: 200, body: { ComponentEndpoints } }
}

async function find({ ctx, params: { xname } }: OpenchamiRequest): Promise<ComponentEndpoint> {
  const found = (await readAll(ctx)).find(({ node }) => node.xname === normalizeXname(xname!))
  if (!found) throw new NotFound(`There is no node with the xname ${xname} and a Redfish BMC.`)
  return found
}

export const get = async (request: OpenchamiRequest): Promise<Answer> => ({ status: 200, body: toEndpoint(await find(request)) })

/** Removes the BMC of the node, from which the component endpoint is derived. */
export async function remove(request: OpenchamiRequest): Promise<Answer> {
  const { node } = await find(request)
  await removeNodeBmc(request.ctx, { nodeId: node.id })
  return done('deleted 1 entry')
}
