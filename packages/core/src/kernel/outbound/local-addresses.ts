import { BlockList, isIP } from 'node:net'

// Addresses of the machine itself, of services that trust the same machine or link (such as cloud metadata), and of no one. BlockList
// also matches IPv4 inside ::ffff:0:0/96. Transition prefixes contain IPv4 addresses, which would need a check of their own.
const LOCAL = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  // Metadata services outside the link-local range: Alibaba, Oracle, and Azure's agent.
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  LOCAL.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['fe80::', 10],
  // Metadata services of AWS and Google.
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['ff00::', 8],
] as const)
  LOCAL.addSubnet(net, bits, 'ipv6')

export const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Whether `address` is a loopback, link-local, metadata, multicast or reserved address. Private addresses are not local. */
export const isLocalAddress = (address: string): boolean => LOCAL.check(address, familyOf(address))
