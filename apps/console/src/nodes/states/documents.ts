import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'
import { NodeRowFragment } from '../documents.ts'

export const PreviewNodeState = graphql(`
  query PreviewNodeState($input: PreviewNodeStateInput!) {
    previewNodeState(input: $input) {
      __typename
      ... on NodeStatePreview {
        hostlist runningJobs unknownJobsHostlist slurmJobIds openAlerts agentCount
        rejections { reason hostlist } clusters { name hostlist } runs { number templateName hostlist }
      }
      ... on Error { message code }
    }
  }
`)
export type NodeStatePreview = Extract<ResultOf<typeof PreviewNodeState>['previewNodeState'], { __typename: 'NodeStatePreview' }>
export type NodeStateChange = VariablesOf<typeof PreviewNodeState>['input']['change']

export const SetNodeMaintenance = graphql(
  `
  mutation SetNodeMaintenance($input: SetNodeMaintenanceInput!) {
    setNodeMaintenance(input: $input) {
      __typename
      ... on SetNodeMaintenancePayload { node { ...NodeRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [NodeRowFragment],
)
