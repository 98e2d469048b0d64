import { BlockList, isIPv4 } from 'node:net'
import { and, asc, eq, isNull } from 'drizzle-orm'
import { z } from 'zod'
import type { Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { computeNodes, nodeInterfaces } from '../nodes/tables.ts'
import type { BootUrls } from './boot-urls.ts'
import { DHCP_SERVERS, type DhcpHost, renderDhcpConfig } from './render/dhcp-config.ts'

const Ipv4 = z.string().trim().refine(isIPv4, 'must be an IPv4 address')
const Subnet = z
  .string()
  .trim()
  .refine((text) => {
    const [address = '', bits = '', ...more] = text.split('/')
    return isIPv4(address) && /^\d{1,2}$/.test(bits) && Number(bits) >= 8 && Number(bits) <= 30 && more.length === 0
  }, 'must be an IPv4 network of 8 to 30 bits, such as 10.0.0.0/24')

export const DhcpConfigInput = z
  .object({
    server: z.enum(DHCP_SERVERS),
    subnet: Subnet,
    first: Ipv4,
    last: Ipv4,
    router: Ipv4.nullish(),
    nameservers: z.array(Ipv4).max(8, 'at most 8 name servers').nullish(),
    /** HTTP folder with iPXE. Default: the root of the host of the boot service. */
    ipxeUrl: z
      .url({ protocol: /^https?$/ })
      .max(60, 'must have at most 60 characters')
      .nullish(),
  })
  .superRefine(({ subnet, ...addresses }, ctx) => {
    if (!Subnet.safeParse(subnet).success) return
    const contains = inside(subnet)
    for (const field of ['first', 'last', 'router'] as const) {
      const address = addresses[field]
      if (address && !contains(address)) ctx.addIssue({ code: 'custom', path: [field], message: `must be in ${subnet}` })
    }
  })

/**
 * Configuration of a DHCP server for network boot, with the fixed addresses of nodes: those that their boot interfaces have in the subnet.
 * @param machines with fixed addresses that are no nodes yet
 * @throws InvalidInput
 */
export async function readDhcpConfig(
  ctx: Ctx,
  input: z.input<typeof DhcpConfigInput>,
  urls: BootUrls,
  machines: readonly DhcpHost[] = [],
): Promise<string> {
  const { server, subnet, first, last, router, nameservers, ipxeUrl } = parseInput(DhcpConfigInput, input)
  const rows = await ctx.db
    .select({ name: computeNodes.name, mac: nodeInterfaces.mac, addresses: nodeInterfaces.addresses })
    .from(nodeInterfaces)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeInterfaces.nodeId))
    .where(and(visibleTo(ctx, nodeInterfaces), eq(nodeInterfaces.isBoot, true), isNull(computeNodes.decommissionedAt)))
    .orderBy(asc(computeNodes.name))
  const contains = inside(subnet)
  const hosts = rows.flatMap(({ name, mac, addresses }): DhcpHost[] => {
    const found = addresses.find(({ address }) => isIPv4(address) && contains(address))
    return found ? [{ name, mac, address: found.address }] : []
  })
  // A MAC or an address that occurs twice is an error in dnsmasq and Kea.
  const isFree = ({ mac, address }: DhcpHost) => !hosts.some((host) => host.mac === mac || host.address === address)
  hosts.push(...machines.filter(isFree))
  const network = {
    subnet,
    pool: { first, last },
    router: router ?? null,
    nameservers: nameservers ?? [],
    ipxeUrl: (ipxeUrl ?? `http://${new URL(urls.scripts).host}`).replace(/\/+$/, ''),
  }
  return renderDhcpConfig(server, urls.scripts, network, hosts)
}

function inside(subnet: string): (address: string) => boolean {
  const [address = '', bits] = subnet.split('/')
  const list = new BlockList()
  list.addSubnet(address, Number(bits))
  return (each) => isIPv4(each) && list.check(each)
}
