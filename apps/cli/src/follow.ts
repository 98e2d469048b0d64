import { request, subscribe } from './client.ts'
import { CliError, EXIT } from './errors.ts'
import { graphql, type ResultOf } from './graphql.ts'
import { bareId } from './ids.ts'
import { write } from './output.ts'

const EVENTS = graphql(`subscription Follow($id: ID!, $after: BigInt) {
  jobRunEvents(id: $id, after: $after) { lastSeq events { stdout } }
}`)
const END = graphql(`query FollowEnd($id: ID!) {
  node(id: $id) { ... on JobRun { status statusReason finishedAt midTaskHosts hostSummary { result count hostlist } } }
}`)
type Run = Extract<ResultOf<typeof END>['node'], { status: unknown }>

/**
 * Print a run's log until it is over. A lost connection is taken up after the last event that was printed.
 * @returns the exit code that says how the run ended
 */
export async function follow(id: string): Promise<number> {
  const stop = new AbortController()
  const onInterrupt = () => stop.abort()
  process.once('SIGINT', onInterrupt)
  let after = 0
  try {
    while (!stop.signal.aborted) {
      for await (const { jobRunEvents: batch } of subscribe(EVENTS, () => ({ id, after }), stop.signal)) {
        for (const event of batch.events) if (event.stdout !== null) await write(`${plain(event.stdout)}\n`)
        after = batch.lastSeq
      }
      if (stop.signal.aborted) break
      const { node } = await request(END, { id })
      if (!node || !('status' in node)) throw new CliError(`The run ${bareId(id)} is gone. See \`muster runs\`.`, EXIT.notFound)
      // A server that shuts down in good order ends the subscription before the run is over.
      if (node.finishedAt) return conclude(node)
    }
  } finally {
    process.off('SIGINT', onInterrupt)
  }
  process.stderr.write(
    `\nNo longer following. The run goes on: \`muster logs -f ${bareId(id)}\`, \`muster cancel ${bareId(id)}\`.\n`,
  )
  return EXIT.interrupted
}

/** Say how it ended, hosts folded to hostlists. */
function conclude(run: Run): number {
  process.stderr.write(`${run.status}${run.statusReason ? `: ${run.statusReason}` : ''}\n`)
  for (const s of run.hostSummary)
    process.stderr.write(`  ${s.result.toLowerCase().padEnd(11)} ${String(s.count).padStart(4)}  ${s.hostlist}\n`)
  if (run.midTaskHosts.length > 0) process.stderr.write(`  in the middle of a task: ${run.midTaskHosts.join(', ')}\n`)
  return exitCodeOf(run.status)
}

/** What `muster` exits with when it followed a run that ended like this. */
export const exitCodeOf = (status: string): number =>
  status === 'SUCCEEDED' ? EXIT.ok : (EXIT[status as keyof typeof EXIT] ?? EXIT.failed)

/** Colours stay on a terminal and go in a file; every other control sequence goes always, since hosts wrote it. */
export function plain(text: string, colours = process.stdout.isTTY === true): string {
  // biome-ignore format: one alternative per kind of sequence
  const sequence = /\u001b\[[0-9;:]*m|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g
  return text.replace(sequence, (found) => (colours && /^\u001b\[[0-9;:]*m$/.test(found) ? found : ''))
}
