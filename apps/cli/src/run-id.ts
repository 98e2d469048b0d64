import { request } from './client.ts'
import { CliError, EXIT } from './errors.ts'
import { graphql } from './graphql.ts'
import { bareId, globalId, isUuid } from './ids.ts'

export const RUN_HELP = 'run ID, or `last` for the newest run'

/** Global ID of a run: its UUID, its global ID, or `last` for the newest run. */
export async function runId(text: string): Promise<string> {
  if (isUuid(text)) return globalId('JobRun', text)
  if (isUuid(bareId(text)) && text === globalId('JobRun', bareId(text))) return text
  if (text === 'last') return lastRunId()
  throw new CliError(`Invalid run: ${text}. Use an ID from \`muster runs\` or \`last\`.`, EXIT.notFound)
}

async function lastRunId(): Promise<string> {
  const { jobRuns } = await request(graphql(`query LastRun { jobRuns(first: 1) { edges { node { id } } } }`), {})
  const last = jobRuns.edges[0]?.node.id
  if (!last) throw new CliError('No runs yet. Start one with `muster run TEMPLATE --limit all`.', EXIT.notFound)
  return last
}
