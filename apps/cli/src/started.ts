import { request } from './client.ts'
import { follow } from './follow.ts'
import { graphql } from './graphql.ts'
import { bareId } from './ids.ts'

/** What a command does with a run that it has started: print its id, or follow it; the exit code says how it ended. */
export async function followStarted(run: { id: string; hostsTotal: number }, detach: true | undefined): Promise<void> {
  const id = bareId(run.id)
  if (detach) return void process.stdout.write(`${id}\n`)
  const where = `${run.hostsTotal} ${run.hostsTotal === 1 ? 'node' : 'nodes'}`
  process.stderr.write(`Run ${id} on ${where}. Ctrl-C stops following, not the run.\n`)
  // Nobody should look at an empty log and wonder.
  const { node } = await request(
    graphql(`query Obstacles($id: ID!) {
      node(id: $id) { ... on JobRun { waitingFor { hostlist ownerName run { id templateName } } } }
    }`),
    { id: run.id },
  )
  for (const { hostlist, ownerName, run: other } of node && 'waitingFor' in node ? node.waitingFor : [])
    process.stderr.write(`It waits on ${hostlist} for ${other.templateName} ${bareId(other.id)} of ${ownerName}.\n`)
  process.exitCode = await follow(run.id)
}
