import dns from 'node:dns/promises'
import { setTimeout } from 'node:timers/promises'
import type { InputIssue } from '../errors.ts'
import { isLocalAddress } from './local-addresses.ts'
import { isListed, type LocalTarget } from './settings.ts'

export type TargetAddress = { address: string; family: number }

/** A target that Muster does not connect to. The message is for the operator. */
export class TargetError extends Error {
  readonly isLocal: boolean
  constructor(message: string, { isLocal = false } = {}) {
    super(message)
    this.isLocal = isLocal
  }
}

/**
 * Resolves `host`, a name or an address (IPv6 also in brackets) that a user set. Callers must connect to the returned addresses: a
 * second lookup could return others.
 * @param port null when it is not known yet: any port
 * @param localTargets the local addresses that the installation allows
 * @throws TargetError when the name does not resolve, or one of its addresses is local and not allowed
 */
export async function resolveTarget(
  host: string,
  port: number | null,
  localTargets: readonly LocalTarget[],
): Promise<TargetAddress[]> {
  const found = await dns.lookup(host.replace(/^\[(.*)\]$/, '$1'), { all: true }).catch((error: NodeJS.ErrnoException) => {
    throw new TargetError(`The name ${host} cannot be resolved (${error.code}); check its spelling and the DNS of the worker.`)
  })
  const rejected = found.find(({ address }) => isLocalAddress(address) && !isListed(localTargets, address, port))
  if (rejected)
    throw new TargetError(
      `${host} is at ${rejected.address}, an address of the worker's own machine, its link, or a metadata service. Use another address, or list ${entryOf(rejected, port)} in LOCAL_TARGETS of the API and the workers.`,
      { isLocal: true },
    )
  return found
}

const entryOf = ({ address, family }: TargetAddress, port: number | null) =>
  port === null ? address : `${family === 6 ? `[${address}]` : address}:${port}`

const DEFAULT_PORTS: Record<string, number> = { 'http:': 80, 'https:': 443, 'ssh:': 22 }

/** Host and port of a URL. */
export const endpointOf = ({ hostname, port, protocol }: URL) => ({
  host: hostname,
  port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0),
})

type TargetFields = { url?: string | null | undefined; host?: string | null | undefined; port?: number | null | undefined }

/** The servers that the given fields of a route or sink name. */
export const targetsOf = ({ url, host, port }: TargetFields) => [
  ...(url ? [{ path: 'url', ...endpointOf(new URL(url)) }] : []),
  ...(host ? [{ path: 'host', host, port: port ?? null }] : []),
]

const LOOKUP_TIMEOUT_MS = 2000

/**
 * Rejects targets on save when connecting would reject them. A name that does not resolve here is accepted: workers may use another
 * DNS.
 */
export async function targetIssues(
  targets: { path: string; host: string; port: number | null }[],
  localTargets: readonly LocalTarget[],
): Promise<InputIssue[]> {
  const issues = targets.map(async ({ path, host, port }): Promise<InputIssue[]> => {
    const failure = resolveTarget(host, port, localTargets).then(
      () => null,
      (error: unknown) => error,
    )
    const error = await Promise.race([failure, setTimeout(LOOKUP_TIMEOUT_MS, null, { ref: false })])
    return error instanceof TargetError && error.isLocal ? [{ path, message: error.message }] : []
  })
  return (await Promise.all(issues)).flat()
}
