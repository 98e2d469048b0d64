/** Checks of values that Slurm's programs refuse at their start. Each returns what is wrong, or null. */

const words = (list: string) => {
  const allowed = new Set(list.toLowerCase().split(' '))
  return (value: string): string | null =>
    allowed.has(value.toLowerCase()) ? null : `must be one of ${list.replaceAll(' ', ', ')}, not ${JSON.stringify(value)}`
}

const logLevel = words('quiet fatal error info verbose debug debug2 debug3 debug4 debug5 0 1 2 3 4 5 6 7 8 9')

/** Slurm's `_is_valid_timespec`: minutes, minutes:seconds, hours:minutes:seconds, days-hours… */
export function timeProblem(value: string): string | null {
  if (/^(-1|infinite|unlimited)$/i.test(value)) return null
  return /^(\d+(:\d+){0,2}|\d+-\d+(:\d+){0,2})$/.test(value)
    ? null
    : `is no time such as 30, 1:00:00 or 7-00:00:00: ${JSON.stringify(value)}`
}

export function preemptModeProblem(value: string): string | null {
  const modes = value.toLowerCase().split(',').filter(Boolean)
  const unknown = modes.find((mode) => !/^(gang|within|off|cluster|cancel|requeue|on|suspend)$/.test(mode))
  if (unknown !== undefined) return `has no mode ${JSON.stringify(unknown)}`
  if (modes.filter((mode) => mode !== 'gang' && mode !== 'within').length > 1) return 'can have one mode, and GANG or WITHIN'
  return modes.includes('gang') && modes.includes('within') ? 'cannot combine GANG and WITHIN' : null
}

function portsProblem(value: string): string | null {
  const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(value) ?? []
  const isRange = first !== undefined && Number(first) > 0 && (last === undefined || Number(last) > Number(first))
  return isRange ? null : `must be a port or a range of ports, not ${JSON.stringify(value)}`
}

const atLeast = (min: number) => (value: string) => (Number(value) < min ? `must be at least ${min}` : null)

export const shareProblem = (value: string): string | null =>
  /^(no|exclusive|yes|force)$|^(yes|force):/i.test(value)
    ? null
    : `must be NO, EXCLUSIVE, YES or FORCE, not ${JSON.stringify(value)}`

export const partitionStateProblem = (value: string): string | null =>
  /^(up|down|drain|inactive)/i.test(value) ? null : `must be UP, DOWN, DRAIN or INACTIVE, not ${JSON.stringify(value)}`

/** By key in lower case. */
export const SETTING_CHECKS: Record<string, (value: string) => string | null> = {
  slurmctlddebug: logLevel,
  slurmddebug: logLevel,
  slurmctldsyslogdebug: logLevel,
  slurmdsyslogdebug: logLevel,
  slurmctldport: portsProblem,
  maxjobcount: atLeast(1),
  maxstepcount: atLeast(1),
  preemptmode: preemptModeProblem,
  preemptexempttime: timeProblem,
  prioritydecayhalflife: timeProblem,
  prioritymaxage: timeProblem,
  prioritycalcperiod: (value) => timeProblem(value) ?? (/^(0|-1)$/.test(value) ? 'must be at least 1' : null),
  priorityusageresetperiod: words('none now daily weekly monthly quarterly yearly'),
  enforcepartlimits: words('yes up true 1 any no down false 0 all'),
  propagateprioprocess: words('0 1 2'),
}
