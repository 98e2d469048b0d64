import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { familyOf } from './local-addresses.ts'

/** Local addresses that Muster may connect to for users: a network, and a port; without one, every port. */
export type LocalTarget = { address: string; prefix: number; port: number | null }

const ENTRY = /^(?:\[([\da-f:.]+)\]|([\da-f:.]+?))(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/i

function parseEntry(text: string): LocalTarget | null {
  // An IPv6 address with a port is in brackets.
  const bare = /^([\da-f:.]+?)(?:\/(\d{1,3}))?$/i.exec(text)
  const [, address = '', prefix, port] = bare && isIP(bare[1]!) ? bare : groupsOf(ENTRY.exec(text))
  const bits = isIP(address) === 6 ? 128 : 32
  const target = { address, prefix: Number(prefix ?? bits), port: port === undefined ? null : Number(port) }
  return isIP(address) && target.prefix <= bits && (target.port ?? 1) >= 1 && (target.port ?? 1) <= 65_535 ? target : null
}
const groupsOf = (found: RegExpExecArray | null) => (found ? [found[0], found[1] ?? found[2], found[3], found[4]] : [])

export const outboundSettings = {
  /**
   * Loopback, link-local and metadata addresses that alert routes, secret stores, git repositories, salt-apis, slurmrestd, BMCs and OpenCHAMI targets may use, with
   * commas between them: `127.0.0.1:8200`, `[::1]:8200`, `169.254.10.0/24`.
   */
  LOCAL_TARGETS: z
    .string()
    .default('')
    .transform((text, ctx): LocalTarget[] => {
      const entries = text.split(',').map((entry) => entry.trim())
      const targets = entries.filter(Boolean).map(parseEntry)
      if (targets.every((target) => target !== null)) return targets
      ctx.addIssue('must be addresses, networks or both with ports, such as 127.0.0.1:8200,169.254.10.0/24')
      return z.NEVER
    }),
} as const

/** Whether one of `targets` contains the address and port; null: with any port. */
export function isListed(targets: readonly LocalTarget[], address: string, port: number | null): boolean {
  const list = new BlockList()
  for (const target of targets)
    if (target.port === null || port === null || target.port === port)
      list.addSubnet(target.address, target.prefix, familyOf(target.address))
  return list.check(address, familyOf(address))
}
