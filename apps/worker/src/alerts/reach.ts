import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { NotSent } from './failure.ts'

// Behind these are the worker itself, services that trust whoever is on the same machine or link (the metadata services of clouds
// are there), or nobody. BlockList looks at IPv4 inside ::ffff:0:0/96 too.
const LOCAL = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  // Those of clouds that do not use the link: Alibaba's, Oracle's, and Azure's own agent.
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  LOCAL.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fe80::', 10],
  ['fd00:ec2::254', 128],
  ['ff00::', 8],
] as const)
  LOCAL.addSubnet(net, bits, 'ipv6')

export const isLocal = (address: string): boolean => LOCAL.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

export type Address = { address: string; family: number }

/**
 * Where `host` (a name or an address, IPv6 also in brackets) is. Whoever connects takes what this returns: a second look-up could
 * answer otherwise.
 * @throws NotSent when it is not known, or one of its addresses is local and such are not allowed
 */
export async function addressesOf(host: string, allowLocal: boolean): Promise<Address[]> {
  const found = await lookup(host.replace(/^\[(.*)\]$/, '$1'), { all: true }).catch((error: NodeJS.ErrnoException) => {
    throw new NotSent(`The name ${host} cannot be resolved (${error.code}); check its spelling and the DNS of the worker.`)
  })
  if (!allowLocal && found.some(({ address }) => isLocal(address)))
    throw new NotSent(
      `${host} is an address of the worker's own machine or link. Alerts do not go there, unless the worker is started with ALERT_LOCAL_TARGETS=1.`,
    )
  return found
}
