import { request, subscribe } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { bareId } from '../../ids.ts'
import { plain, write } from '../../output.ts'

const EVENTS = graphql(`subscription Follow($id: ID!, $after: BigInt) {
  jobRunEvents(id: $id, after: $after) { lastSeq events { stdout } }
}`)
const END = graphql(`query FollowEnd($id: ID!) {
  node(id: $id) { ... on JobRun { status statusReason finishedAt interruptedHosts { count hostlist } hostSummary { result count hostlist } } }
}`)
type Run = Extract<ResultOf<typeof END>['node'], { status: unknown }>

/**
 * Prints the log of a run until it ends. Resumes after the last printed event when the connection is lost.
 * @returns exit code for the status of the run
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
      if (!node || !('status' in node))
        throw new CliError(`The run ${bareId(id)} was deleted. See \`muster runs\`.`, EXIT.notFound)
      // A server that shuts down completes the subscription before the run ends.
      if (node.finishedAt) return printResult(node)
    }
  } finally {
    process.off('SIGINT', onInterrupt)
  }
  process.stderr.write(
    `\nStopped following. The run continues: \`muster logs -f ${bareId(id)}\`, \`muster cancel ${bareId(id)}\`.\n`,
  )
  return EXIT.interrupted
}

/** Prints the status of a run, with hosts folded to hostlists. */
function printResult(run: Run): number {
  process.stderr.write(plain(`${run.status}${run.statusReason ? `: ${run.statusReason}` : ''}\n`, false))
  for (const s of run.hostSummary)
    process.stderr.write(`  ${s.result.toLowerCase().padEnd(11)} ${String(s.count).padStart(4)}  ${s.hostlist}\n`)
  if (run.interruptedHosts.count > 0) process.stderr.write(`  interrupted in a task: ${run.interruptedHosts.hostlist}\n`)
  return exitCodeOf(run.status)
}

/** Exit code for the final status of a run. */
export const exitCodeOf = (status: string): number =>
  status === 'SUCCEEDED' ? EXIT.ok : (EXIT[status as keyof typeof EXIT] ?? EXIT.failed)
