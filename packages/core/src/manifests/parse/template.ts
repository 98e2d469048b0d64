import { isIPv4, isIPv6 } from 'node:net'
import { InvalidInput } from '../../kernel/errors.ts'
import { parseHardwareAddress } from '../../nodes/index.ts'

/** Fields of a node that count up in a template when their value ends in `+` or `+STEP`. */
const COUNTERS = [
  /^(host|managementIp|nid|rackPosition)$/,
  /^bmc\.(address|mac)$/,
  /^interfaces\.\d+\.mac$/,
  /^interfaces\.\d+\.addresses\.\d+\.address$/,
]
const COUNTER = /^(.*[0-9A-Fa-f])\+(\d{0,6})$/

/**
 * The spec of the node at `index` of a template: `{name}` is replaced by its name, and a counter field has the value of the first node,
 * plus a step per node: `10.0.0.11+`, `02:00:5e:00:00:01+2`, `1+`, `U01+`.
 * @throws InvalidInput a counter exceeds the largest address
 */
export function fillTemplate(value: unknown, name: string, index: number, path = ''): unknown {
  if (typeof value === 'string') {
    const counter = COUNTERS.some((field) => field.test(path)) ? COUNTER.exec(value) : null
    if (counter) {
      const counted = count(counter[1]!, index * Number(counter[2] || 1), path)
      return path === 'nid' ? Number(counted) : counted
    }
    return value.includes('{name}') ? value.replaceAll('{name}', name) : value
  }
  if (Array.isArray(value)) return value.map((each, i) => fillTemplate(each, name, index, join(path, String(i))))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fillTemplate(each, name, index, join(path, key))]))
  return value
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

function count(start: string, plus: number, path: string): string {
  const tooLarge = () => new InvalidInput([{ path, message: `${start} plus ${plus} is beyond the last address` }])
  if (path.endsWith('mac')) {
    const digits = parseHardwareAddress(start)?.replaceAll(':', '')
    if (!digits) return start
    // Cannot overflow: the first bytes of valid addresses are not all ff.
    const sum = BigInt(`0x${digits}`) + BigInt(plus)
    return sum.toString(16).padStart(digits.length, '0').match(/../g)!.join(':')
  }
  if (isIPv4(start)) {
    const sum = start.split('.').reduce((total, part) => total * 256 + Number(part), 0) + plus
    if (sum > 0xffff_ffff) throw tooLarge()
    return [24, 16, 8, 0].map((shift) => Math.floor(sum / 2 ** shift) % 256).join('.')
  }
  if (isIPv6(start)) {
    const sum = ipv6Number(start) + BigInt(plus)
    if (sum >= 1n << 128n) throw tooLarge()
    const groups = sum.toString(16).padStart(32, '0').match(/.{4}/g)!.join(':')
    return new URL(`http://[${groups}]`).hostname.slice(1, -1)
  }
  const [, head = start, digits = ''] = /^(.*?)(\d{1,15})$/.exec(start) ?? []
  return digits === '' ? start : head + String(Number(digits) + plus).padStart(digits.length, '0')
}

function ipv6Number(text: string): bigint {
  // The hostname has no embedded IPv4 address.
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean)) as [string[], string[]]
  const zeros = Array(tail === undefined ? 0 : 8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].reduce((total, group) => (total << 16n) + BigInt(`0x${group}`), 0n)
}
