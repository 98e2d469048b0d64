import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

export const TotalsQuery = graphql(`
  query SlurmOverviewTotals {
    slurmTotals {
      clusters notAnswering nodes nodesInService cpus allocatedCpus gpus allocatedGpus runningJobs pendingJobs
      regions { region clusters notAnswering nodes nodesInService cpus allocatedCpus gpus allocatedGpus runningJobs pendingJobs }
      gpuModels { model gpus inService allocated idle clusters { idle inService cluster { id name } } }
    }
    outdated: slurmClusters(first: 500, filter: { state: [NOT_ANSWERING, WAITING] }) { edges { node { id name } } }
  }
`)
export type Totals = ResultOf<typeof TotalsQuery>['slurmTotals']
export type RegionTotals = Totals['regions'][number]
export type GpuModel = Totals['gpuModels'][number]

export const StartsQuery = graphql(`
  query SlurmOverviewStarts($input: SlurmStartInput!) {
    slurmStartEstimates(input: $input) {
      __typename
      ... on SlurmStartEstimates {
        estimates { partition startAt nodeList jobsAhead blockedReason cluster { id name region } }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type StartInput = VariablesOf<typeof StartsQuery>['input']
type Starts = Extract<ResultOf<typeof StartsQuery>['slurmStartEstimates'], { __typename: 'SlurmStartEstimates' }>
export type StartEstimate = Starts['estimates'][number]
