import { InvalidInput, NotFound, parseInput } from '@muster/core/errors'
import { type NodeBmc, parseXname, removeNodeBmc } from '@muster/core/nodes'
import { putRedfishEndpoint, readComponents } from '@muster/core/openchami'
import type { Ctx } from '@muster/core/registry'
import { z } from 'zod'
import { done, matches } from './filters.ts'
import type { Answer, OpenchamiRequest } from './request.ts'

export const FILTERS = ['id', 'fqdn', 'ipaddr', 'ipaddress', 'macaddr', 'type']
const PATH = '/hsm/v2/Inventory/RedfishEndpoints'

/** The xname of the BMC of a node. */
export const bmcXname = (xname: string): string => xname.slice(0, xname.lastIndexOf('n'))

/** BMCs by their xname, each with the IDs of its nodes. Nodes without an xname have none. */
async function readAll(ctx: Ctx): Promise<{ ID: string; bmc: NodeBmc; nodeIds: string[] }[]> {
  const nodes = (await readComponents(ctx)).flatMap((node) => (node.bmc ? [{ ...node, bmc: node.bmc }] : []))
  const ofBmc = Map.groupBy(nodes, ({ xname }) => bmcXname(xname))
  return [...ofBmc].map(([ID, nodes]) => ({ ID, bmc: nodes[0]!.bmc, nodeIds: nodes.map(({ id }) => id) }))
}

/** Passwords are never readable. */
function toEndpoint({ ID, bmc: { address, mac } }: Awaited<ReturnType<typeof readAll>>[number]) {
  const isAddress = /^[\d.]+$|:/.test(address)
  return {
    ...{ ID, Type: 'NodeBMC', Hostname: isAddress ? ID : address, Domain: '', FQDN: address, Enabled: true },
    ...(isAddress ? { IPAddress: address } : {}),
    ...(mac ? { MACAddr: mac } : {}),
    ...{ User: '', Password: '', RediscoverOnUpdate: false },
  }
}

export async function list({ ctx, query }: OpenchamiRequest): Promise<Answer> {
  const RedfishEndpoints = (await readAll(ctx))
    .map(toEndpoint)
    .filter(
      (one) =>
        matches(query, 'id', [one.ID]) &&
        matches(query, 'type', [one.Type]) &&
        matches(query, 'fqdn', [one.FQDN]) &&
        matches(query, 'macaddr', [one.MACAddr ?? null]) &&
        ['ipaddr', 'ipaddress'].every((name) => matches(query, name, [one.IPAddress ?? null])),
    )
  return { status: 200, body: { RedfishEndpoints } }
}

async function find({ ctx, params: { xname } }: OpenchamiRequest) {
  const found = (await readAll(ctx)).find(({ ID }) => ID === normalized(xname!))
  if (!found) throw new NotFound(`There is no BMC with the xname ${xname}.`)
  return found
}
const normalized = (xname: string) => {
  const node = parseXname(`${xname}n0`)
  return node ? `x${node.cabinet}c${node.chassis}s${node.slot}b${node.bmc}` : xname
}

export const get = async (request: OpenchamiRequest): Promise<Answer> => ({ status: 200, body: toEndpoint(await find(request)) })

const Body = z.object({
  ID: z.string(),
  FQDN: z.string().nullish(),
  Hostname: z.string().nullish(),
  Domain: z.string().nullish(),
  IPAddress: z.string().nullish(),
  IPAddr: z.string().nullish(),
  MACAddr: z.string().nullish(),
  User: z.string().nullish(),
  Password: z.string().nullish(),
  /** In the second version of the schema. */
  Systems: z
    .array(
      z.object({
        uri: z.string(),
        /** `name` is the xname of the node in requests of OpenCHAMI's CLI. */
        ethernet_interfaces: z
          .array(
            z.object({
              name: z.string().nullish(),
              description: z.string().nullish(),
              mac: z.string(),
              ip: z.string().nullish(),
            }),
          )
          .nullish(),
      }),
    )
    .nullish(),
})

async function write({ ctx, body, localTargets }: OpenchamiRequest, replaces: boolean): Promise<string> {
  const { ID, FQDN, Hostname, Domain, IPAddress, IPAddr, MACAddr, User, Password, Systems } = parseInput(Body, body)
  if (User || Password)
    throw new InvalidInput([
      {
        path: User ? 'User' : 'Password',
        message: 'must be empty: store it as a credential of the kind BMC with the name openchami',
      },
    ])
  const named = FQDN || (Hostname && Domain ? `${Hostname}.${Domain}` : Hostname)
  await putRedfishEndpoint(
    ctx,
    {
      xname: ID,
      address: IPAddress || IPAddr || named || ID,
      mac: MACAddr || null,
      systems: (Systems ?? []).map(({ uri, ethernet_interfaces }, i) => ({
        path: pathOf(uri),
        interfaces: (ethernet_interfaces ?? []).map(({ name, description, mac, ip }) => ({
          ...{ xname: name && parseXname(name) ? name : `${ID}n${i}`, mac, description },
          addresses: ip ? [{ address: ip }] : [],
        })),
      })),
      replaces,
    },
    localTargets,
  )
  return normalized(ID)
}

/** The path of a URL, also of one without a protocol. */
const pathOf = (uri: string) => uri.replace(/^[a-z]+:\/\//i, '').replace(/^[^/]*(?=\/)/, '')

export async function post(request: OpenchamiRequest): Promise<Answer> {
  const URI = `${PATH}/${await write(request, false)}`
  return { status: 201, location: URI, body: [{ URI }] }
}

export async function put(request: OpenchamiRequest): Promise<Answer> {
  const xname = await write(request, true)
  return { status: 200, body: toEndpoint(await find({ ...request, params: { xname } })) }
}

export async function remove(request: OpenchamiRequest): Promise<Answer> {
  const { nodeIds } = await find(request)
  for (const nodeId of nodeIds) await removeNodeBmc(request.ctx, { nodeId })
  return done('deleted 1 entry')
}
