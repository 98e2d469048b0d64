import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

const LookupFragment = graphql(`
  fragment SlurmLookupResult on SlurmLookup {
    id error hasAccounting finishedAt searchedSince endCursor
    jobs {
      jobId name user account partition qos state canceledByUid reason exitCode exitSignal submittedAt startAt endAt elapsedSeconds
      timeLimitMinutes isTimeUnlimited nodeList nodeCount cpus cpuSeconds cpuEfficiency memoryBytes memoryLimitBytes reservation
      workingDirectory comment
      tres { name amount }
      steps {
        stepId name state exitCode exitSignal elapsedSeconds nodeList tasks cpuSeconds memoryBytes maxTaskMemoryBytes maxTaskMemoryNode
      }
    }
    priorities { partition priority factors { factor resource points value } }
    shares { account user shares isParent normalizedShares effectiveUsage fairShare }
  }
`)
export type Lookup = ResultOf<typeof LookupFragment>
export type JobRecord = Lookup['jobs'][number]

export const LookUpJobs = graphql(
  `
  mutation LookUpSlurmJobs($input: LookUpSlurmJobsInput!) {
    lookUpSlurmJobs(input: $input) {
      __typename
      ... on LookUpSlurmJobsPayload { slurmLookup { ...SlurmLookupResult } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [LookupFragment],
)
export type JobsInput = VariablesOf<typeof LookUpJobs>['input']

export const LookUpPriority = graphql(
  `
  mutation LookUpSlurmPriority($input: LookUpSlurmPriorityInput!) {
    lookUpSlurmPriority(input: $input) {
      __typename
      ... on LookUpSlurmPriorityPayload { slurmLookup { ...SlurmLookupResult } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [LookupFragment],
)

export const LookupUpdated = graphql(
  `
  subscription SlurmLookupUpdated($id: ID!) {
    slurmLookupUpdated(id: $id) { ...SlurmLookupResult }
  }
`,
  [LookupFragment],
)

export const RecordClusterQuery = graphql(`
  query SlurmRecordCluster($id: ID!) { slurmCluster(id: $id) { id name } }
`)
