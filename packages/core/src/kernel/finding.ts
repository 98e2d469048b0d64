/** Names of the system checks, in the order in which they are shown. */
export const SYSTEM_CHECKS = [
  'DATABASE',
  'MIGRATIONS',
  'CONFIGURATION',
  'FILES',
  'PUBLIC_URL',
  'MAIL',
  'SIGN_IN',
  'CLOCK',
  'ENCRYPTION_KEY',
  'DISK',
  'ARTIFACTS',
  'WORKERS',
  'ISOLATION',
  'QUEUE',
] as const
export type SystemCheckName = (typeof SYSTEM_CHECKS)[number]

/** Result of a system check, by the process that can know it. */
export type Finding = {
  check: SystemCheckName
  /** Where it was observed: `API`, `database`, or the name of a worker. */
  source: string
  severity: 'OK' | 'WARNING' | 'ERROR'
  message: string
  /** Recommended action of the operator; null when none is needed. */
  nextStep: string | null
}

/** A finding without its source, which the caller of the check knows. */
export type Observation = Omit<Finding, 'source'>
