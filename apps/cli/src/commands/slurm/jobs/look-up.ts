import { request, subscribe } from '../../../client.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql, type ResultOf, type VariablesOf } from '../../../graphql.ts'

const START_JOBS = graphql(`mutation SlurmJobHistory($input: LookUpSlurmJobsInput!) {
  lookUpSlurmJobs(input: $input) {
    __typename ... on LookUpSlurmJobsPayload { slurmLookup { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)
const START_PRIORITY = graphql(`mutation SlurmJobPriority($input: LookUpSlurmPriorityInput!) {
  lookUpSlurmPriority(input: $input) {
    __typename ... on LookUpSlurmPriorityPayload { slurmLookup { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)
const JOBS = graphql(`subscription SlurmJobHistoryUpdates($id: ID!) {
  slurmLookupUpdated(id: $id) {
    error finishedAt endCursor searchedSince
    jobs {
      jobId name user account partition qos state canceledByUid reason exitCode exitSignal submittedAt startAt endAt elapsedSeconds timeLimitMinutes isTimeUnlimited
      nodeList nodeCount cpus tres { name amount } cpuSeconds cpuEfficiency memoryBytes memoryLimitBytes reservation workingDirectory comment
      steps { stepId name state exitCode exitSignal startAt endAt elapsedSeconds nodeList tasks cpus cpuSeconds memoryBytes maxTaskMemoryBytes maxTaskMemoryNode }
    }
  }
}`)
const PRIORITY = graphql(`subscription SlurmJobPriorityUpdates($id: ID!) {
  slurmLookupUpdated(id: $id) {
    error finishedAt
    priorities { partition priority factors { factor resource points value } }
    shares { account user shares isParent normalizedShares usage effectiveUsage fairShare levelFairShare }
  }
}`)

export type JobLookup = ResultOf<typeof JOBS>['slurmLookupUpdated']
export type PriorityLookup = ResultOf<typeof PRIORITY>['slurmLookupUpdated']

/** Reads finished jobs from the accounting of a cluster, and waits for the result. */
export async function lookUpJobs(input: VariablesOf<typeof START_JOBS>['input']): Promise<JobLookup> {
  const { id } = orThrow((await request(START_JOBS, { input })).lookUpSlurmJobs).slurmLookup
  let last: JobLookup | null = null
  for await (const { slurmLookupUpdated } of subscribe(JOBS, () => ({ id }))) last = slurmLookupUpdated
  return finished(last)
}

/** Reads priority factors of a pending job, and waits for the result. */
export async function lookUpPriority(input: VariablesOf<typeof START_PRIORITY>['input']): Promise<PriorityLookup> {
  const { id } = orThrow((await request(START_PRIORITY, { input })).lookUpSlurmPriority).slurmLookup
  let last: PriorityLookup | null = null
  for await (const { slurmLookupUpdated } of subscribe(PRIORITY, () => ({ id }))) last = slurmLookupUpdated
  return finished(last)
}

function finished<T extends { error: string | null; finishedAt: string | null }>(lookup: T | null): T {
  if (!lookup?.finishedAt) throw new CliError('The lookup was lost. Try again.', EXIT.failed)
  if (lookup.error) throw new CliError(lookup.error, EXIT.failed)
  return lookup
}
