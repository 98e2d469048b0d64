import type { Settings } from '../settings.ts'

/** A command of bin/muster-admin. */
export type AdminCommand = {
  /** Arguments as the usage line shows them. */
  arguments: string
  /** One line of the command list. */
  summary: string
  /** Output of `--help`. */
  help: string
  /** Returns the exit code. Errors are shown by their message. */
  run: (args: string[], settings: Settings) => Promise<number>
}

/** Invalid arguments; exit code 2. */
export class UsageError extends Error {}
