import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@muster/core/log'
import type { Child } from './child.ts'
import type { HostStates } from './host-states.ts'
import { linesOf } from './lines.ts'
import type { LogWriter } from './log-writer.ts'
import type { Mask } from './mask.ts'
import { CallbackEvent, outputEvent, toRunEvent } from './run-event.ts'

// The longest line that the callback writes: the text and result of one event, escaped, or the output of a probe.
const MAX_EVENT = 32 * 1024 * 1024
// Longer than what is kept of a line, so that a secret at the cut is seen whole before it is masked.
const MAX_OUTPUT_LINE = 24 * 1024
/** How long we wait for the rest of the output once the process is gone; what it left behind may hold the pipes open. */
const AFTER_EXIT_MS = 2000
/** How long what it had said by then may take to be stored. */
const DRAIN_MS = 5000

export type Intake = {
  writer: LogWriter
  states: HostStates
  mask: Mask
  log: Log
  onEvidence: (host: string, text: string) => Promise<void>
}

/**
 * Take in everything that ansible-playbook says until it has ended. Reads only as fast as the log can be written.
 * @returns whether a process that it left behind held its output open
 */
export async function takeIn(child: Child, intake: Intake): Promise<boolean> {
  const streams = [child.events, child.stdout, child.stderr]
  const reading = Promise.allSettled([
    readEvents(child, intake),
    readOutput(child.stdout, intake),
    readOutput(child.stderr, intake),
  ])
  await child.exited
  const read = reading.then(() => false)
  const hasStrays = await Promise.race([read, sleep(AFTER_EXIT_MS, true)])
  if (hasStrays) {
    // What is already here is still taken in; a process that escaped and writes on is not waited for.
    await Promise.race([read, intake.writer.drain(), sleep(DRAIN_MS)])
    for (const stream of streams) stream.destroy()
  }
  for (const result of await reading)
    if (result.status === 'rejected' && result.reason?.code !== 'ERR_STREAM_PREMATURE_CLOSE')
      intake.log.warn({ err: result.reason }, 'output of ansible-playbook was cut short')
  return hasStrays
}

async function readEvents(child: Child, { writer, states, mask, log, onEvidence }: Intake): Promise<void> {
  for await (const lines of linesOf(child.events, MAX_EVENT))
    for (const line of lines) {
      const event = parseEvent(line)
      if (!event) {
        log.warn({ line: mask.text(line.slice(0, 200)) }, 'not an event of the callback')
        continue
      }
      states.apply(event)
      if (event.evidence !== undefined && event.host !== undefined) await onEvidence(event.host, event.evidence)
      const kept = toRunEvent(event, mask)
      if (kept) await writer.push(kept)
    }
}

function parseEvent(line: string): CallbackEvent | null {
  try {
    return CallbackEvent.parse(JSON.parse(line))
  } catch {
    return null
  }
}

async function readOutput(stream: Child['stdout'], { writer, mask }: Intake): Promise<void> {
  for await (const lines of linesOf(stream, MAX_OUTPUT_LINE)) await writer.push(outputEvent(lines, mask))
}
