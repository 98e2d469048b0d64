import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@muster/core/log'
import type { AnsibleProcess } from '../process/ansible-process.ts'
import type { HostStates } from './host-states.ts'
import type { LogWriter } from './log-writer.ts'
import type { Mask } from './mask.ts'
import { readLines } from './read-lines.ts'
import { CallbackEvent, outputEvent, toRunEvent } from './run-event.ts'

// The longest line that the callback writes: one event's escaped text and result, or the output of a probe.
const MAX_EVENT = 32 * 1024 * 1024
// Longer than the stored part of a line, so that a secret at the truncation point is masked as a whole.
const MAX_OUTPUT_LINE = 24 * 1024
/** How long to read on after the process exited: a process that it left behind may keep the pipes open. */
const AFTER_EXIT_MS = 2000
/** How long storing the output read so far may take. */
const DRAIN_MS = 5000

export type OutputSinks = {
  writer: LogWriter
  states: HostStates
  mask: Mask
  log: Log
  onEvidence: (host: string, text: string) => Promise<void>
}

/**
 * Consumes the output of ansible-playbook until it has exited. Reads only as fast as the log can be written.
 * @returns whether a process that it left behind keeps its output open
 */
export async function consumeOutput(child: AnsibleProcess, sinks: OutputSinks): Promise<boolean> {
  const streams = [child.events, child.stdout, child.stderr]
  const reading = Promise.allSettled([readEvents(child, sinks), readOutput(child.stdout, sinks), readOutput(child.stderr, sinks)])
  await child.exited
  const read = reading.then(() => false)
  const hasStrays = await Promise.race([read, sleep(AFTER_EXIT_MS, true)])
  if (hasStrays) {
    // Output that has arrived is still stored; an escaped process that keeps writing is not waited for.
    await Promise.race([read, sinks.writer.drain(), sleep(DRAIN_MS)])
    for (const stream of streams) stream.destroy()
  }
  for (const result of await reading)
    if (result.status === 'rejected' && result.reason?.code !== 'ERR_STREAM_PREMATURE_CLOSE')
      sinks.log.warn({ err: result.reason }, 'the output of ansible-playbook was truncated')
  return hasStrays
}

async function readEvents(child: AnsibleProcess, { writer, states, mask, log, onEvidence }: OutputSinks): Promise<void> {
  for await (const lines of readLines(child.events, MAX_EVENT))
    for (const line of lines) {
      const event = parseEvent(line)
      if (!event) {
        log.warn({ line: mask.text(line.slice(0, 200)) }, 'ignored a line that is not a callback event')
        continue
      }
      states.apply(event)
      if (event.evidence !== undefined && event.host !== undefined) await onEvidence(event.host, event.evidence)
      const runEvent = toRunEvent(event, mask)
      if (runEvent) await writer.push(runEvent)
    }
}

function parseEvent(line: string): CallbackEvent | null {
  try {
    return CallbackEvent.parse(JSON.parse(line))
  } catch {
    return null
  }
}

async function readOutput(stream: AnsibleProcess['stdout'], { writer, mask }: OutputSinks): Promise<void> {
  for await (const lines of readLines(stream, MAX_OUTPUT_LINE)) await writer.push(outputEvent(lines, mask))
}
