import { schema } from '@muster/core/registry'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'

const { nodeInterfaces } = schema

const InterfaceAddress = builder.objectRef<{ address: string; network: string | null }>('InterfaceAddress').implement({
  description: 'Address of a network interface.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'IPv4 or IPv6 address.' }),
    network: t.exposeString('network', { nullable: true, description: 'Name of the network; null when none is set.' }),
  }),
})

export const NodeInterface = builder.drizzleObject('nodeInterfaces', {
  name: 'NodeInterface',
  description: 'Network interface of a node, as entered by users.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique on the node, for example `eth0`.' }),
    mac: t.exposeString('mac', {
      description: 'MAC address, or the 20 bytes of an InfiniBand interface; in lower case with colons, unique in the tenant.',
    }),
    isBoot: t.exposeBoolean('isBoot', { description: 'Whether the node boots from this interface.' }),
    addresses: t.expose('addresses', { type: [InterfaceAddress], description: 'Addresses; at most 16.' }),
  }),
})

const InterfaceAddressInput = builder.inputType('InterfaceAddressInput', {
  description: 'Address of a network interface.',
  fields: (t) => ({
    address: t.string({ required: true, description: 'IPv4 or IPv6 address.' }),
    network: t.string({ description: 'Name of the network; at most 64 characters.' }),
  }),
})

export const NodeInterfaceInput = builder.inputType('NodeInterfaceInput', {
  description: 'Network interface of a node.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name, unique on the node, for example `eth0`; 1 to 32 characters.' }),
    mac: t.string({
      required: true,
      description:
        'MAC address, or the 20 bytes of an InfiniBand interface, with colons, hyphens, dots or without separators; unique in the tenant.',
    }),
    isBoot: t.boolean({
      description: 'Whether the node boots from this interface; at most one, with a MAC address of 6 bytes. Default: false.',
    }),
    addresses: t.field({ type: [InterfaceAddressInput], description: 'Addresses; at most 16.' }),
  }),
})

/** MAC of the boot interface of a node, in the statement that reads the node. */
export const bootMac = (n: Pick<typeof schema.computeNodes, 'id' | 'tenantId'>) => sql<string | null>`(
  select i.mac from ${nodeInterfaces} i where i.node_id = ${n.id} and i.tenant_id = ${n.tenantId} and i.is_boot)`
