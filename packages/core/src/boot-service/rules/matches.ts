import type { BootRuleMatch, UnknownMachine } from '../tables.ts'

type Reported = Pick<UnknownMachine, 'mac' | 'arch' | 'serial' | 'systemUuid' | 'interfaces'>

/** Whether a machine meets all conditions of a rule. A value that it does not report meets no condition. */
export function matches(match: BootRuleMatch, { mac, arch, serial, systemUuid, interfaces }: Reported): boolean {
  const begins = (prefixes: string[] | null, macs: string[]) =>
    prefixes === null || macs.some((each) => prefixes.some((prefix) => each.startsWith(prefix)))
  return (
    begins(match.macPrefixes, [mac]) &&
    begins(
      match.interfaceMacPrefixes,
      interfaces.map((each) => each.mac),
    ) &&
    isLike(match.serials, serial) &&
    isLike(match.systemUuids, systemUuid) &&
    (match.arch === null || match.arch === arch)
  )
}

/** Matches patterns in which `*` is any text. Written without a regular expression, which could take exponential time. */
function isLike(patterns: string[] | null, text: string | null): boolean {
  if (patterns === null) return true
  if (text === null) return false
  const lower = text.toLowerCase()
  return patterns.some((pattern) => {
    const parts = pattern.toLowerCase().split('*')
    const [first = '', ...rest] = parts
    if (rest.length === 0) return lower === first
    const last = rest.pop()!
    if (!lower.startsWith(first) || lower.length < first.length + last.length || !lower.endsWith(last)) return false
    let at = first.length
    for (const part of rest) {
      const found = lower.indexOf(part, at)
      if (found < 0 || found + part.length > lower.length - last.length) return false
      at = found + part.length
    }
    return true
  })
}
