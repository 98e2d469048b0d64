import { readFileSync } from 'node:fs'

/** The probe, a POSIX sh script for `sh -s`. */
export const PROBE = readFileSync(new URL('./probe.sh', import.meta.url), 'utf8')

/** The probe without comments and indentation, which each session parses again. */
const MINIFIED = PROBE.replace(/^[ \t]*(#.*\n)?/gm, '')

/** Maximum output size. The probe limits itself to less. */
export const PROBE_OUTPUT_LIMIT_BYTES = 2 * 1024 * 1024

/** Maximum duration of a probe with default settings. */
export const PROBE_TIMEOUT_MS = 30_000

export interface ProbeSettings {
  /** Frame boundary, unknown to the tools. Default: generated on the node. */
  nonce?: string
  /** Time limit in seconds per vendor. Vendors run in parallel. Default 10. */
  toolSeconds?: number
}

/**
 * Builds the command of a probe: run `command`, write `stdin`, close it, read stdout. MUSTER_SCRIPT contains the text of the probe, which
 * restarts itself in a session per vendor. Settings are validated, so they cannot break out of their quotes.
 * @throws RangeError for an invalid nonce or time limit.
 */
export function probeCommand(settings: ProbeSettings = {}): { command: string; stdin: string } {
  const { nonce, toolSeconds = 10 } = settings
  if (nonce !== undefined && !/^[\w-]{16,64}$/.test(nonce))
    throw new RangeError('probe nonce must be 16 to 64 characters of A-Z a-z 0-9 _ -')
  if (!Number.isInteger(toolSeconds) || toolSeconds < 1 || toolSeconds > 25)
    throw new RangeError('probe time limit must be 1 to 25 seconds')
  const head = `MUSTER_TOOL_SECONDS=${toolSeconds} MUSTER_NONCE=${nonce ?? "''"}\n`
  return { command: 'sh -s', stdin: `${head}MUSTER_SCRIPT='${MINIFIED.replaceAll("'", "'\\''")}'\neval "$MUSTER_SCRIPT"\n` }
}
