import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

export const PreviewAction = graphql(`
  query PreviewSlurmAction($input: StartSlurmActionInput!) {
    previewSlurmAction(input: $input) {
      __typename
      ... on SlurmActionPreview {
        fingerprint targetCount deniedCount runningJobCount commandCount commands
        targets(first: 500) { edges { node { target state isReached runningJobs user } } }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type ActionInput = VariablesOf<typeof PreviewAction>['input']
export type Preview = Extract<ResultOf<typeof PreviewAction>['previewSlurmAction'], { __typename: 'SlurmActionPreview' }>

const ActionFragment = graphql(`
  fragment SlurmActionProgress on SlurmAction {
    id status error targetCount finishedAt
    results { result count }
    items(first: 500) { edges { node { target before after result message } } }
  }
`)
export type Action = ResultOf<typeof ActionFragment>

export const StartAction = graphql(`
  mutation StartSlurmAction($input: StartSlurmActionInput!) {
    startSlurmAction(input: $input) {
      __typename
      ... on StartSlurmActionPayload { slurmAction { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const ActionUpdated = graphql(
  `
  subscription SlurmActionUpdated($id: ID!) {
    slurmActionUpdated(id: $id) { ...SlurmActionProgress }
  }
`,
  [ActionFragment],
)

export const ActionPermissionsQuery = graphql(`
  query SlurmActionPermissions($id: ID!) {
    slurmCluster(id: $id) { id actionPermissions { verb blockedReason } }
  }
`)

export const ActionsQuery = graphql(
  `
  query SlurmActions($filter: SlurmActionFilter, $first: Int, $after: String) {
    slurmActions(filter: $filter, first: $first, after: $after) {
      totalCount
      edges {
        node {
          id verb status error reason targetCount createdAt finishedAt createdBy { name }
          results { result count }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
)
