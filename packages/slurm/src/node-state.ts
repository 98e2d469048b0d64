/** Suffixes of sinfo, by the flags that cause them; the first that fits is shown. */
const SUFFIXES = [
  ['$', 'MAINTENANCE', 'MAINT'],
  ['^', 'REBOOT_ISSUED'],
  ['@', 'REBOOT_REQUESTED', 'REBOOT'],
  ['#', 'POWERING_UP'],
  ['%', 'POWERING_DOWN'],
  ['~', 'POWERED_DOWN'],
  ['!', 'POWER_DOWN'],
  ['*', 'NOT_RESPONDING'],
] as const

/**
 * The state of a node as `sinfo --long` shows it, in upper case: DRAINING for ["MIXED", "DRAIN"], IDLE* for a node that does not respond.
 * The order of the rules is that of node_state_string() in Slurm's src/common/slurm_protocol_defs.c.
 * @param states as in `SlurmNode`, the base state first
 */
export function nodeStateWord(states: readonly string[]): string {
  const [base = 'UNKNOWN'] = states
  const has = (...flags: readonly string[]) => flags.some((flag) => states.includes(flag))
  const isAllocated = base === 'ALLOCATED' || base === 'MIXED'
  const isBusy = isAllocated || has('COMPLETING')
  const suffix = SUFFIXES.find(([, ...flags]) => has(...flags))?.[0] ?? ''
  const silent = has('NOT_RESPONDING') ? '*' : ''
  if (has('INVALID_REG')) return 'INVAL'
  if (has('MAINTENANCE', 'MAINT') && !has('DRAIN') && !isAllocated && base !== 'DOWN') return `MAINT${silent}`
  if (has('REBOOT_ISSUED', 'REBOOT_REQUESTED', 'REBOOT') && !isAllocated) return `REBOOT${has('REBOOT_ISSUED') ? '^' : silent}`
  if (has('DRAIN')) return `${isBusy ? 'DRAINING' : 'DRAINED'}${suffix}`
  if (has('FAIL')) return `${isBusy ? 'FAILING' : 'FAIL'}${silent}`
  if (base === 'ALLOCATED' && has('COMPLETING')) return `ALLOCATED${suffix || '+'}`
  if (has('COMPLETING') && base !== 'DOWN') return `COMPLETING${suffix}`
  if (base === 'IDLE' && !suffix && has('RESERVED')) return 'RESERVED'
  if (base === 'IDLE' && !suffix && has('PLANNED')) return 'PLANNED'
  if (base === 'MIXED' && !suffix && has('PLANNED')) return 'MIXED-'
  return `${base}${suffix}`
}

const SUFFIX = /[$^@#%~!*+-]$/

/**
 * Whether a filter by state finds a node. A word is the shown state or a flag; without a suffix, it also finds the state with one. So
 * IDLE finds IDLE* and not DRAINED, DRAIN finds DRAINED and DRAINING, and IDLE* only nodes that are idle and do not respond.
 * @param states as in `SlurmNode`, the base state first
 * @param wanted in any case
 */
export function hasNodeState(states: readonly string[], wanted: readonly string[]): boolean {
  const shown = nodeStateWord(states)
  const words = [shown, shown.replace(SUFFIX, ''), ...states.slice(1)]
  return wanted.some((word) => words.includes(word.toUpperCase()))
}

/** Base states and flags of nodes on which no job can start. */
export const OUT_OF_SERVICE: readonly string[] = [
  ...['DOWN', 'ERROR', 'FUTURE', 'UNKNOWN'],
  ...['DRAIN', 'FAIL', 'NOT_RESPONDING', 'INVALID_REG', 'MAINTENANCE', 'MAINT'],
  ...['REBOOT', 'REBOOT_ISSUED', 'REBOOT_REQUESTED'],
]

/** Whether jobs can start on a node with these states. */
export const isInService = (states: readonly string[]): boolean => !states.some((state) => OUT_OF_SERVICE.includes(state))

/**
 * Whether a node still has a reason that Muster set. Slurm appends to it what it does or notices, for example " : reboot issued" and
 * " : Not responding".
 */
export const hasReason = ({ reason }: { reason: string | null }, ours: string): boolean =>
  reason === ours || (reason?.startsWith(`${ours} : `) ?? false)
