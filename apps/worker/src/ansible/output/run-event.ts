import { JOB_RUN_EVENT_KINDS, type NewJobRunEvent } from '@muster/core/runs'
import { z } from 'zod'
import type { Mask } from './mask.ts'

const MAX_LINE = 16 * 1024
const MAX_STDOUT = 256 * 1024
const MAX_RESULT = 64 * 1024
const MAX_VALUE = 4 * 1024
export const TRUNCATED = '_muster_truncated'

const HostCounts = z.object({
  ok: z.number(),
  failures: z.number(),
  unreachable: z.number(),
  changed: z.number(),
  skipped: z.number(),
  rescued: z.number(),
  ignored: z.number(),
})

/** One line of the callback plugin (playbooks/plugins/callback/muster.py). */
export const CallbackEvent = z.object({
  kind: z.enum([...JOB_RUN_EVENT_KINDS, 'batch_end']),
  /** Seconds since 1970, by the controller's clock. */
  t: z.number(),
  stdout: z.string().optional(),
  play: z.string().optional(),
  task: z.string().optional(),
  uuid: z.string().optional(),
  action: z.string().optional(),
  host: z.string().optional(),
  changed: z.boolean().optional(),
  ms: z.number().optional(),
  ignored: z.boolean().optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  /** The probe's whole output, with `collect_facts`. */
  evidence: z.string().optional(),
  hosts: z.record(z.string(), HostCounts).optional(),
  /** Hosts that have completed the whole playbook. */
  done: z.array(z.string()).optional(),
})
export type CallbackEvent = z.infer<typeof CallbackEvent>

/** Masks secrets, then truncates to 16 KiB per line and 256 KiB in total, with a note where text is missing. */
export function truncateText(text: string, mask: Mask): string {
  const lines = mask
    .text(text)
    .split('\n')
    .map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}… (line truncated)` : line))
  const shown = lines.join('\n')
  return shown.length > MAX_STDOUT ? `${shown.slice(0, MAX_STDOUT)}…\n(output truncated)` : shown
}

/** Masks secrets, then truncates to 64 KiB of JSON; a truncated result contains `_muster_truncated`. */
export function truncateResult(result: Record<string, unknown>, mask: Mask): Record<string, unknown> {
  const masked = mask.value(result)
  if (sizeOf(masked) <= MAX_RESULT) return masked
  const truncated: Record<string, unknown> = { [TRUNCATED]: true }
  let remaining = MAX_RESULT - 1024
  for (const [key, value] of Object.entries(masked)) {
    const short = typeof value === 'string' && value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)}…` : value
    const size = sizeOf({ [key]: short })
    if (size > Math.min(remaining, 2 * MAX_VALUE)) continue
    truncated[key] = short
    remaining -= size
  }
  return truncated
}

const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

const SILENT = new Set(['host_start', 'diff', 'notice', 'output'])

/** Converts a callback event to the stored event; null for events that only update states and print nothing. */
export function toRunEvent(event: CallbackEvent, mask: Mask): NewJobRunEvent | null {
  if (event.kind === 'batch_end' || (SILENT.has(event.kind) && event.stdout === undefined)) return null
  const masked = (text: string | undefined) => (text === undefined ? null : mask.text(text))
  return {
    kind: event.kind,
    host: event.host ?? null,
    play: masked(event.play),
    task: masked(event.task),
    taskUuid: event.uuid ?? null,
    action: event.action ?? null,
    isChanged: event.changed ?? null,
    durationMs: event.ms === undefined ? null : Math.round(event.ms),
    result: event.result
      ? truncateResult(event.ignored ? { ...event.result, _muster_ignored: true } : event.result, mask)
      : (event.hosts ?? null),
    stdout: event.stdout === undefined ? null : truncateText(event.stdout, mask),
    createdAt: new Date(event.t * 1000),
  }
}

/** Lines from outside the callback: what ansible-playbook prints before it loads the callback, or a traceback. */
export const outputEvent = (lines: string[], mask: Mask): NewJobRunEvent => ({
  kind: 'output',
  stdout: lines.map((line) => truncateText(line, mask)).join('\n'),
  createdAt: new Date(),
})
