/**
 * The word that `sinfo --long` shows for the states of a node: DRAINING for ["MIXED", "DRAIN"], DRAINED for ["DOWN", "DRAIN"]. The order
 * of the rules is that of node_state_string() in Slurm's src/common/slurm_protocol_defs.c.
 * @param states as in `SlurmNode`, the base state first
 */
export function nodeStateWord(states: readonly string[]): string {
  const [base = 'UNKNOWN'] = states
  const has = (...flags: string[]) => flags.some((flag) => states.includes(flag))
  const isBusy = base === 'ALLOCATED' || base === 'MIXED' || has('COMPLETING')
  const isUsable = !has('DRAIN') && !isBusy && base !== 'DOWN'
  if (has('MAINTENANCE', 'MAINT') && isUsable) return 'MAINT'
  if (has('REBOOT_ISSUED', 'REBOOT_REQUESTED', 'REBOOT') && isUsable) return 'REBOOT'
  if (has('DRAIN')) return isBusy ? 'DRAINING' : 'DRAINED'
  if (has('FAIL')) return isBusy ? 'FAILING' : 'FAIL'
  if (has('INVALID_REG')) return 'INVAL'
  if (base === 'DOWN') return 'DOWN'
  if (has('POWERING_DOWN')) return 'POWERING_DOWN'
  if (has('POWERED_DOWN', 'POWER_DOWN')) return 'POWERED_DOWN'
  if (has('POWERING_UP')) return 'POWERING_UP'
  if (base === 'IDLE' && has('COMPLETING')) return 'COMPLETING'
  if (base === 'IDLE' && has('RESERVED')) return 'RESERVED'
  if (base === 'IDLE' && has('PLANNED')) return 'PLANNED'
  return base
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
