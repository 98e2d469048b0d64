import type { SlurmAction } from './action.ts'

const NO_RIGHTS = /Invalid user id|Access\/permission denied/i

/** The next step after Slurm refused a command with this output; null when its own words are enough. */
export function refusalHint(action: SlurmAction, output: string): string | null {
  if (!NO_RIGHTS.test(output)) return null
  const rights = "Slurm's operator or administrator level, or sudo without a password, or must be root or SlurmUser."
  // Slurm has the same error for unknown users of a reservation.
  return 'users' in action && action.users
    ? `Check that the users of the reservation exist. The account on the controller also needs ${rights}`
    : `The account on the controller needs ${rights}`
}
