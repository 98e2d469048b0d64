/** A slurmctld as `scontrol ping` sees it. */
export interface SlurmController {
  /** primary, backup, backup1, … */
  role: string
  hostname: string
  isUp: boolean
}

/**
 * Reads `scontrol ping`, whose text is the same in all versions. Its exit code is 1 when the primary controller is down; with --json
 * it is 0 even then.
 */
export function parseControllers(output: string): SlurmController[] {
  return [...output.matchAll(/^Slurmctld\(([^)]+)\) at (\S+) is (UP|DOWN)/gm)].map(([, role, hostname, state]) => ({
    role: role!,
    hostname: hostname!,
    isUp: state === 'UP',
  }))
}
