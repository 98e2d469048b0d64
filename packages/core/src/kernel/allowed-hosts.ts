import { isIP } from 'node:net'
import { matchesGlob } from 'node:path/posix'
import { z } from 'zod'
import { Conflict } from './errors.ts'
import { isInNetworks, Network } from './networks.ts'

/** The fields of a credential that decide where its password may be sent. */
type PasswordOwner = { name: string; kind: string; allowedHosts: readonly string[] }

/** Matches every host, by name and address. */
export const ANY_HOST = '*'

/** A DNS name in which up to three `*` match any text. The required letter excludes incomplete addresses, such as `10.*`. */
const NamePattern = z
  .string()
  .max(253, 'must have at most 253 characters')
  .regex(
    /^(?=.*[a-z])[a-z0-9_*]([a-z0-9_.*-]*[a-z0-9_*])?$/,
    'must be *, a network such as 10.0.0.0/8, or a host name such as *.example.org',
  )
  .refine((pattern) => pattern.split('*').length <= 4, 'must have at most three *')

const HostPattern = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.union([z.literal(ANY_HOST), Network, NamePattern]))

/** Hosts to which a password may be sent. */
export const AllowedHosts = z
  .array(HostPattern)
  .min(1, 'must name at least one host; * allows every host')
  .max(50, 'at most 50')
  .transform((patterns) => [...new Set(patterns)])

/** Whether a password may be sent to `host`. Networks match addresses and name patterns match names; nothing is resolved. */
export function isAllowedHost(host: string, patterns: readonly string[]): boolean {
  if (patterns.includes(ANY_HOST)) return true
  const [address = ''] = host.split('%')
  if (isIP(address))
    return isInNetworks(
      address,
      patterns.filter((pattern) => Network.safeParse(pattern).success),
    )
  return patterns.some((pattern) => matchesGlob(host.toLowerCase(), pattern))
}

/** The kinds with a password that is sent to the host or BMC of the node. Bastions and git servers have their own host. */
export const isPasswordForNodes = ({ kind }: Pick<PasswordOwner, 'kind'>): boolean =>
  kind === 'SSH_PASSWORD' || kind === 'BECOME' || kind === 'BMC'

/** Why the password of the credential may not be sent to `host`; null when it may, or when the credential has none. */
export function allowedHostsBlockedReason(credential: PasswordOwner, host: string): string | null {
  const { name, allowedHosts } = credential
  if (!isPasswordForNodes(credential) || isAllowedHost(host, allowedHosts)) return null
  return `The password of the credential ${name} is not sent to ${host}: its allowed hosts are ${allowedHosts.slice(0, 5).join(', ') || 'none'}. Add the host to the credential, or assign another one.`
}

/** @throws Conflict the password of the credential may not be sent to `host` */
export function assertAllowedHost(credential: PasswordOwner, host: string): void {
  const reason = allowedHostsBlockedReason(credential, host)
  if (reason) throw new Conflict(reason)
}
