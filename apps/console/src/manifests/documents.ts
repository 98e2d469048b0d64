import { graphql, type ResultOf } from '@/graphql/graphql.ts'

const Plan = graphql(`
  fragment ManifestPlanParts on ManifestPlan @_unmask {
    owner isApplied fingerprint createCount updateCount deleteCount unchangedCount changeCount conflictCount issueCount warnings
    changes { action kind names count fields { path before after } }
    impact { kind count nodes }
    conflicts { kind name path owner message }
    issues { file document line column path message allowed }
  }
`)
export type Plan = ResultOf<typeof Plan>
export type Change = Plan['changes'][number]

export const PlanManifests = graphql(
  `
  query PlanManifests($input: PlanManifestsInput!) {
    planManifests(input: $input) {
      __typename
      ... on ManifestPlan { ...ManifestPlanParts }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [Plan],
)

export const ApplyManifests = graphql(
  `
  mutation ApplyManifests($input: ApplyManifestsInput!) {
    applyManifests(input: $input) {
      __typename
      ... on ApplyManifestsPayload { plan { ...ManifestPlanParts } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [Plan],
)

export type ManifestFile = { name: string; text: string }
export type ManifestInput = { files: ManifestFile[]; owner?: string; prune?: boolean; forceConflicts?: boolean }

/** The limit of the server. */
export const MAX_CHARACTERS = 10_000_000
