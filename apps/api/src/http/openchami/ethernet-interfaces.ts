import { NotFound, parseInput } from '@muster/core/errors'
import { parseMac } from '@muster/core/nodes'
import {
  addEthernetInterface,
  type Component,
  readComponents,
  removeEthernetInterface,
  updateEthernetInterface,
} from '@muster/core/openchami'
import type { Ctx } from '@muster/core/registry'
import { z } from 'zod'
import { done, matches } from './filters.ts'
import type { Answer, OpenchamiRequest } from './request.ts'

export const FILTERS = ['id', 'macaddress', 'ipaddress', 'network', 'componentid', 'type']
const PATH = '/hsm/v2/Inventory/EthernetInterfaces'

/** SMD's ID of an interface is its MAC without colons. */
const idOf = (mac: string) => mac.replaceAll(':', '')

/** InfiniBand interfaces have no place in this collection. */
const ethernetOf = (interfaces: Component['interfaces']) => interfaces.filter(({ mac }) => parseMac(mac))

const interfacesOf = ({ xname, updatedAt, interfaces }: Component) =>
  ethernetOf(interfaces).map(({ name, mac, addresses }) => ({
    ID: idOf(mac),
    Description: name,
    MACAddress: mac,
    LastUpdate: updatedAt.toISOString(),
    ComponentID: xname,
    Type: 'Node',
    IPAddresses: addresses.map(({ address, network }) => ({ IPAddress: address, ...(network ? { Network: network } : {}) })),
  }))

const readAll = async (ctx: Ctx) => (await readComponents(ctx)).flatMap(interfacesOf)

export async function list({ ctx, query }: OpenchamiRequest): Promise<Answer> {
  const body = (await readAll(ctx)).filter(
    ({ ID, MACAddress, ComponentID, Type, IPAddresses }) =>
      matches(query, 'ID', [ID]) &&
      matches(query, 'MACAddress', [MACAddress]) &&
      matches(query, 'ComponentID', [ComponentID]) &&
      matches(query, 'Type', [Type]) &&
      matches(
        query,
        'IPAddress',
        IPAddresses.map(({ IPAddress }) => IPAddress),
      ) &&
      matches(
        query,
        'Network',
        IPAddresses.map(({ Network }) => Network ?? null),
      ),
  )
  return { status: 200, body }
}

async function find({ ctx, params: { id } }: OpenchamiRequest) {
  const found = (await readAll(ctx)).find(({ MACAddress }) => MACAddress === parseMac(id!))
  if (!found) throw new NotFound(`There is no interface ${id}.`)
  return found
}

export const get = async (request: OpenchamiRequest): Promise<Answer> => ({ status: 200, body: await find(request) })
export const getAddresses = async (request: OpenchamiRequest): Promise<Answer> => ({
  status: 200,
  body: (await find(request)).IPAddresses,
})

const Addresses = z.array(z.object({ IPAddress: z.string(), Network: z.string().nullish() }))
const PostBody = z.object({
  MACAddress: z.string(),
  ComponentID: z.string(),
  Description: z.string().nullish(),
  IPAddresses: Addresses.nullish(),
})
const PatchBody = z.object({ ComponentID: z.string().nullish(), IPAddresses: Addresses.nullish() })
const toAddresses = (addresses: z.output<typeof Addresses>) =>
  addresses
    .filter(({ IPAddress }) => IPAddress !== '')
    .map(({ IPAddress, Network }) => ({ address: IPAddress, network: Network }))

export async function post({ ctx, body }: OpenchamiRequest): Promise<Answer> {
  const { MACAddress, ComponentID, Description, IPAddresses } = parseInput(PostBody, body)
  await addEthernetInterface(ctx, {
    xname: ComponentID,
    mac: MACAddress,
    description: Description,
    addresses: toAddresses(IPAddresses ?? []),
  })
  const URI = `${PATH}/${idOf(parseMac(MACAddress)!)}`
  return { status: 201, location: URI, body: { URI } }
}

export async function patch(request: OpenchamiRequest): Promise<Answer> {
  const { ComponentID, IPAddresses } = parseInput(PatchBody, request.body)
  const addresses = IPAddresses ? toAddresses(IPAddresses) : null
  await updateEthernetInterface(request.ctx, { mac: request.params.id!, xname: ComponentID, addresses })
  return { status: 200, body: await find(request) }
}

export async function remove({ ctx, params }: OpenchamiRequest): Promise<Answer> {
  await removeEthernetInterface(ctx, { mac: params.id! })
  return done('deleted 1 entry')
}
