import { readFileSync } from 'node:fs'

/** The probe: one POSIX sh script for `sh -s`. */
export const PROBE = readFileSync(new URL('./probe.sh', import.meta.url), 'utf8')

/** The same without comments and indentation: less to send and to read, for each session that it starts. */
const SHORT = PROBE.replace(/^[ \t]*(#.*\n)?/gm, '')

/** Bytes after which a reader may stop: the probe keeps below it by itself. */
export const PROBE_OUTPUT_LIMIT = 1024 * 1024

/** Milliseconds after which a reader may hang up: no probe with default settings lives longer. */
export const PROBE_TIME_LIMIT = 30_000

export interface ProbeSettings {
  /** Boundary of the frames, unknown to the tools; the node makes one up where it is not given. */
  nonce?: string
  /** Clock of each vendor's tools, which run side by side. Default 10. */
  toolSeconds?: number
}

/**
 * The one exec that probes a node: run `command`, write `stdin`, close it, read stdout. The probe has its own text in
 * MUSTER_SCRIPT, to start itself again in a session for each vendor.
 * No value of the settings can leave its quotes. @throws RangeError for a nonce or a clock out of range.
 */
export function probeCommand(settings: ProbeSettings = {}): { command: string; stdin: string } {
  const { nonce, toolSeconds = 10 } = settings
  if (nonce !== undefined && !/^[\w-]{16,64}$/.test(nonce)) throw new RangeError('probe nonce: 16 to 64 of A-Z a-z 0-9 _ -')
  if (!Number.isInteger(toolSeconds) || toolSeconds < 1 || toolSeconds > 25) throw new RangeError('probe clock: 1 to 25 seconds')
  const head = `MUSTER_TOOL_SECONDS=${toolSeconds} MUSTER_NONCE=${nonce ?? "''"}\n`
  return { command: 'sh -s', stdin: `${head}MUSTER_SCRIPT='${SHORT.replaceAll("'", "'\\''")}'\neval "$MUSTER_SCRIPT"\n` }
}
