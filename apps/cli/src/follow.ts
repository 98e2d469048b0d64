import { print } from 'graphql'
import { subscriptions } from './client.ts'
import { CliError, EXIT } from './errors.ts'
import { graphql, type ResultOf } from './graphql.ts'
import { bareId } from './ids.ts'

const EVENTS = graphql(`subscription Follow($id: ID!, $after: BigInt) {
  jobRunEvents(id: $id, after: $after) {
    lastSeq
    events { seq stdout }
    run { status statusReason hostsTotal hostsOk hostsFailed hostsUnreachable midTaskHosts hostSummary { result count hostlist } }
  }
}`)
type Batch = ResultOf<typeof EVENTS>['jobRunEvents']

const GIVE_UP_AFTER = 30
const RETRY_MS = 1000

/**
 * Print a run's log from `after` on until it is over. A lost connection is taken up after the last line printed.
 * @returns the exit code that says how the run ended
 */
export async function follow(id: string, after = 0): Promise<number> {
  let last = null as Batch | null
  let failures = 0
  const stop = new AbortController()
  const onInterrupt = () => stop.abort()
  process.once('SIGINT', onInterrupt)
  try {
    while (true) {
      try {
        for await (const batch of batches(id, last?.lastSeq ?? after, stop.signal)) {
          failures = 0
          for (const event of batch.events) if (event.stdout !== null) process.stdout.write(`${plain(event.stdout)}\n`)
          last = batch
        }
        break
      } catch (error) {
        if (error instanceof CliError || ++failures > GIVE_UP_AFTER) throw error
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  } finally {
    process.off('SIGINT', onInterrupt)
  }
  if (stop.signal.aborted) {
    process.stderr.write(
      `\nNo longer following. The run goes on: \`muster logs -f ${bareId(id)}\`, \`muster cancel ${bareId(id)}\`.\n`,
    )
    return 130
  }
  return last ? conclude(last) : EXIT.ok
}

async function* batches(id: string, after: number, signal: AbortSignal): AsyncGenerator<Batch> {
  const client = subscriptions()
  try {
    const iterator = client.iterate<ResultOf<typeof EVENTS>>({ query: print(EVENTS), variables: { id, after } })
    const aborted = new Promise<{ done: true; value: undefined }>((resolve) =>
      signal.addEventListener('abort', () => resolve({ done: true, value: undefined }), { once: true }),
    )
    while (!signal.aborted) {
      const next = await Promise.race([iterator.next(), aborted])
      if (next.done) return
      if (next.value.errors) throw new CliError(next.value.errors.map((e) => e.message).join('\n'), EXIT.notFound)
      if (next.value.data) yield next.value.data.jobRunEvents
    }
  } finally {
    await client.dispose()
  }
}

/** Say how it ended, hosts folded to hostlists. */
function conclude({ run }: Batch): number {
  process.stderr.write(`${run.status}${run.statusReason ? `: ${run.statusReason}` : ''}\n`)
  for (const s of run.hostSummary)
    process.stderr.write(`  ${s.result.toLowerCase().padEnd(11)} ${String(s.count).padStart(4)}  ${s.hostlist}\n`)
  if (run.midTaskHosts.length > 0) process.stderr.write(`  in the middle of a task: ${run.midTaskHosts.join(', ')}\n`)
  return run.status === 'SUCCEEDED' ? EXIT.ok : (EXIT[run.status as keyof typeof EXIT] ?? EXIT.failed)
}

/** Colours stay on a terminal and go in a file; every other control sequence goes always, since hosts wrote it. */
export function plain(text: string, colours = process.stdout.isTTY === true): string {
  // biome-ignore format: one alternative per kind of sequence
  const sequence = /\u001b\[[0-9;:]*m|\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-_]?|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g
  return text.replace(sequence, (found) => (colours && /^\u001b\[[0-9;:]*m$/.test(found) ? found : ''))
}
