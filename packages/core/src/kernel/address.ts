import { isIP, isIPv4, isIPv6 } from 'node:net'
import { z } from 'zod'
import { parseInput } from './errors.ts'

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
const ZONE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/
// Characters that inventories, SSH command lines and shells interpret differently.
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
const USER = /^[A-Za-z0-9_][A-Za-z0-9._@+-]*$/
/** Names that Ansible reserves: its implicit groups and hosts, and its magic variables. */
const RESERVED = new Set(
  `all ungrouped localhost 127.0.0.1 hostvars groups group_names inventory_hostname inventory_hostname_short inventory_dir
  inventory_file omit playbook_dir role_name role_names role_path play_hosts environment vars lookup query q undef
  children hosts`.split(/\s+/),
)

/** Why `text` is not an address; null when it is. Expects lower case without brackets. */
function hostError(text: string): string | null {
  if (text === '') return 'must not be empty'
  if (text.startsWith('-')) return 'must not begin with `-`'
  if (text.includes(':')) {
    const [address, ...zone] = text.split('%')
    if (!isIPv6(address!)) return 'is not a valid IPv6 address; enter the port in its own field'
    if (zone.length > 1 || (zone.length === 1 && !ZONE.test(zone[0]!)))
      return 'has an invalid zone; it must be an interface name, such as eth0 in fe80::1%eth0'
    return null
  }
  if (!/^[\x21-\x7e]+$/.test(text))
    return 'must not contain spaces, control characters or non-ASCII letters; write such a domain in its xn-- form'
  if (text.length > 253) return 'must have at most 253 characters'
  const labels = text.split('.')
  // Resolvers read 127.1 and 0x7f.1 as addresses, so text that ends in a number must be a complete IPv4 address.
  if (/^(\d+|0x[\da-f]*)$/.test(labels.at(-1)!) && !isIPv4(text)) return 'is not a valid IPv4 address'
  if (!labels.every((label) => LABEL.test(label))) return 'must be a DNS name, an IPv4 address or an IPv6 address'
  return null
}

/** DNS name, IPv4 or IPv6 address (with optional zone). Lower-cased; brackets around IPv6 and a trailing dot are removed. */
export const Host = z.string().transform((text, issue) => {
  const bare = /^\[[^\]]*\]$/.test(text) ? text.slice(1, -1) : text.replace(/(?<=.)\.$/, '')
  const [address, ...zone] = bare.split('%')
  // Interface names are case-sensitive; the rest of an address is not.
  const host = [address!.toLowerCase(), ...zone].join('%')
  const reason =
    hostError(host) ?? (bare !== text && text.startsWith('[') && !host.includes(':') ? 'is not a valid IPv6 address' : null)
  if (reason === null) return host
  issue.addIssue(reason)
  return z.NEVER
})

/** Whether `text` is an IPv4 or IPv6 address without a zone. */
export const isIpAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')

/** TCP port, 1..65535. */
export const Port = z
  .number('must be a number')
  .int('must be a whole number')
  .min(1, 'must be 1 to 65535')
  .max(65535, 'must be 1 to 65535')

/** Login name. */
export const User = z
  .string()
  .min(1, 'must not be empty')
  .max(64, 'must have at most 64 characters')
  .regex(USER, 'must begin with a letter, digit or _ and contain only letters, digits and . _ @ + -')

/** Name of a node: the name it has in inventories, hostlists and logs. */
export const NodeName = z
  .string()
  .min(1, 'must not be empty')
  .max(64, 'must have at most 64 characters')
  .regex(NAME, 'must begin with a letter or digit and contain only letters, digits and . _ -')
  .refine((name) => !RESERVED.has(name.toLowerCase()), 'is reserved by Ansible; choose another name')

/** @throws InvalidInput */
export const parseHost = (text: string): string => parseInput(Host, text)
/** @throws InvalidInput */
export const parsePort = (value: number): number => parseInput(Port, value)
/** @throws InvalidInput */
export const parseUser = (text: string): string => parseInput(User, text)
/** @throws InvalidInput */
export const parseNodeName = (text: string): string => parseInput(NodeName, text)

/** `host:port` for messages, with brackets around IPv6. */
export const hostPort = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
