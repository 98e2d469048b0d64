import { request } from './client.ts'
import { CliError, EXIT } from './errors.ts'
import { graphql } from './graphql.ts'
import { bareId, globalId, isUuid } from './ids.ts'
import { runNotFound } from './lookup.ts'

export const RUN_HELP = 'run number or ID, or `last` for the newest run'

/** Global ID of a run: from its number, its UUID, its global ID, or `last` for the newest run. */
export async function runId(text: string): Promise<string> {
  if (isUuid(text)) return globalId('JobRun', text)
  if (isUuid(bareId(text)) && text === globalId('JobRun', bareId(text))) return text
  if (text === 'last') return lastRunId()
  if (/^\d{1,9}$/.test(text)) return runIdOf(Number(text))
  throw new CliError(`Invalid run: ${text}. Use a number or ID from \`muster runs\`, or \`last\`.`, EXIT.notFound)
}

async function runIdOf(number: number): Promise<string> {
  const { jobRun } = await request(graphql(`query RunIdOf($number: Int!) { jobRun(number: $number) { id } }`), { number })
  if (!jobRun) throw runNotFound(String(number))
  return jobRun.id
}

async function lastRunId(): Promise<string> {
  const { jobRuns } = await request(graphql(`query LastRun { jobRuns(first: 1) { edges { node { id } } } }`), {})
  const last = jobRuns.edges[0]?.node.id
  if (!last) throw new CliError('No runs yet. Start one with `muster run TEMPLATE --limit all`.', EXIT.notFound)
  return last
}
