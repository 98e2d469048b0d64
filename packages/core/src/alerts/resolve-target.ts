import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { InputIssue } from '../kernel/errors.ts'

// Addresses of the worker itself, of services that trust the same machine or link (such as cloud metadata), and of no one. BlockList
// also matches IPv4 inside ::ffff:0:0/96.
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
  ['::', 127],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fe80::', 10],
  ['fd00:ec2::254', 128],
  ['ff00::', 8],
] as const)
  LOCAL.addSubnet(net, bits, 'ipv6')

export const isLocalAddress = (address: string): boolean => LOCAL.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

export type TargetAddress = { address: string; family: number }

/** A target that alerts cannot be sent to. The message is for the operator. */
export class TargetError extends Error {
  readonly isLocal: boolean
  constructor(message: string, { isLocal = false } = {}) {
    super(message)
    this.isLocal = isLocal
  }
}

/**
 * Resolves `host`, a name or an address (IPv6 also in brackets). Callers must connect to the returned addresses: a second lookup
 * could return others.
 * @throws TargetError when the name does not resolve, or one of its addresses is local and `allowLocal` is false
 */
export async function resolveTarget(host: string, allowLocal: boolean): Promise<TargetAddress[]> {
  const found = await lookup(host.replace(/^\[(.*)\]$/, '$1'), { all: true }).catch((error: NodeJS.ErrnoException) => {
    throw new TargetError(`The name ${host} cannot be resolved (${error.code}); check its spelling and the DNS of the worker.`)
  })
  if (!allowLocal && found.some(({ address }) => isLocalAddress(address)))
    throw new TargetError(
      `${host} is an address of the worker's own machine or link. Use another address, or set ALERT_LOCAL_TARGETS=1 for the API and the workers.`,
      { isLocal: true },
    )
  return found
}

/** What an installation allows as targets of alerts. */
export type TargetPolicy = { allowLocal: boolean }

const LOOKUP_TIMEOUT_MS = 2000

/**
 * Rejects a route's target on save when sending would reject it. A name that does not resolve here is accepted: workers may use
 * another DNS.
 */
export async function targetIssues(
  { url, host }: { url?: string | null | undefined; host?: string | null | undefined },
  { allowLocal }: TargetPolicy,
): Promise<InputIssue[]> {
  const targets = [
    ...(url ? [{ path: 'url', name: new URL(url).hostname }] : []),
    ...(host ? [{ path: 'host', name: host }] : []),
  ]
  const issues = targets.map(async ({ path, name }): Promise<InputIssue[]> => {
    const failure = resolveTarget(name, allowLocal).then(
      () => null,
      (error: unknown) => error,
    )
    const error = await Promise.race([failure, setTimeout(LOOKUP_TIMEOUT_MS, null, { ref: false })])
    return error instanceof TargetError && error.isLocal ? [{ path, message: error.message }] : []
  })
  return (await Promise.all(issues)).flat()
}
