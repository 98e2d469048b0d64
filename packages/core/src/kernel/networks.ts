import { BlockList, isIP } from 'node:net'
import { z } from 'zod'

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
const bitsOf = (address: string) => (isIP(address) === 6 ? 128 : 32)

function parse(network: string): { address: string; prefix: number } | null {
  const [, address, prefix] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(network) ?? []
  if (!address || !isIP(address)) return null
  const bits = Number(prefix ?? bitsOf(address))
  return bits <= bitsOf(address) ? { address, prefix: bits } : null
}

/** An IPv4 or IPv6 network, such as `10.0.0.0/8`; an address alone is a network of one. */
export const Network = z
  .string()
  .trim()
  .refine((text) => parse(text) !== null, 'must be an address or a network, such as 10.0.0.0/8')
  .transform((text) => {
    const { address, prefix } = parse(text)!
    return `${address.toLowerCase()}/${prefix}`
  })

/**
 * The network that one client is assumed to control, for limits per client: the IPv4 address, or the /64 of an IPv6 address. Other
 * texts are returned as they are.
 */
export function clientNetwork(address: string): string {
  const [plain] = address.split('%', 1)
  if (isIP(plain!) !== 6) return address
  // The URL parser expands an embedded IPv4 address and writes each group in one form.
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  const [head, tail] = canonical.split('::') as [string, string?]
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const [first, last] = [groups(head), groups(tail)]
  const all = [...first, ...Array<string>(8 - first.length - last.length).fill('0'), ...last]
  if (all.slice(0, 5).every((group) => group === '0') && all[5] === 'ffff') {
    const [high, low] = [Number.parseInt(all[6]!, 16), Number.parseInt(all[7]!, 16)]
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return `${all.slice(0, 4).join(':')}::/64`
}

/** Whether `address` is in one of the networks. IPv4 networks also contain the IPv4-mapped IPv6 form of their addresses. */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  if (!isIP(address)) return false
  const list = new BlockList()
  for (const network of networks) {
    const parsed = parse(network)
    if (parsed) list.addSubnet(parsed.address, parsed.prefix, familyOf(parsed.address))
  }
  return list.check(address, familyOf(address))
}

/** The first of `inner` that is not completely inside one of `outer`; null when all are. */
export function networkOutside(inner: readonly string[], outer: readonly string[]): string | null {
  const isInside = (network: string) => {
    const { address, prefix } = parse(network)!
    const wider = outer.filter((each) => {
      const other = parse(each)!
      return isIP(other.address) === isIP(address) && other.prefix <= prefix
    })
    return isInNetworks(address, wider)
  }
  return inner.find((network) => !isInside(network)) ?? null
}
