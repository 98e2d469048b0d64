import { isIPv4 } from 'node:net'
import { Host } from '../kernel/address.ts'

/** Addresses of one discovery. Each is asked once, so that a /20 takes minutes. */
export const MAX_ADDRESSES = 4096

const toNumber = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const toAddress = (n: number): string => [24, 16, 8, 0].map((bits) => Math.floor(n / 2 ** bits) % 256).join('.')

/**
 * Expands host names, addresses, ranges (`10.0.1.1-10.0.1.64`, `10.0.1.1-64`) and IPv4 networks (`10.0.1.0/24`, without its network and
 * broadcast address).
 * @returns the addresses without repetitions, or why a part is not valid
 */
export function expandAddresses(parts: readonly string[]): { addresses: string[] } | { problem: string } {
  const all = new Set<string>()
  for (const part of parts.map((text) => text.trim()).filter(Boolean)) {
    const found = expandOne(part)
    if (typeof found === 'string') return { problem: found }
    for (const address of found) all.add(address)
    if (all.size > MAX_ADDRESSES) return { problem: `has more than ${MAX_ADDRESSES} addresses; search in parts` }
  }
  return all.size === 0 ? { problem: 'must name at least one address' } : { addresses: [...all] }
}

function expandOne(part: string): string[] | string {
  const network = /^([\d.]+)\/(\d{1,2})$/.exec(part)
  if (network) {
    const [, address = '', bits = ''] = network
    const prefix = Number(bits)
    if (!isIPv4(address) || prefix > 32) return `${part} is not an IPv4 network such as 10.0.1.0/24`
    const size = 2 ** (32 - prefix)
    if (size > MAX_ADDRESSES) return `${part} has ${size} addresses, more than ${MAX_ADDRESSES}; search in parts`
    const first = Math.floor(toNumber(address) / size) * size
    return size <= 2 ? range(first, first + size - 1) : range(first + 1, first + size - 2)
  }
  const ends = /^(\d+\.\d+\.\d+\.\d+)-([\d.]+)$/.exec(part)
  if (ends) {
    const [, low = '', end = ''] = ends
    const high = /^\d+$/.test(end) ? low.replace(/\d+$/, end) : end
    if (!isIPv4(low) || !isIPv4(high) || toNumber(high) < toNumber(low))
      return `${part} is not a range such as 10.0.1.1-10.0.1.64`
    if (toNumber(high) - toNumber(low) >= MAX_ADDRESSES)
      return `${part} has more than ${MAX_ADDRESSES} addresses; search in parts`
    return range(toNumber(low), toNumber(high))
  }
  const host = Host.safeParse(part)
  return host.success ? [host.data] : `${part.slice(0, 80)} ${host.error.issues[0]!.message}`
}

const range = (first: number, last: number): string[] => Array.from({ length: last - first + 1 }, (_, i) => toAddress(first + i))
