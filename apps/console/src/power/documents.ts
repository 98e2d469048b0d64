import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

export const BmcFragment = graphql(`
  fragment NodePower on ComputeNode {
    id name bmcXname updateBlockedReason
    bmc {
      address port mac protocol fingerprint caCertificate systemPath powerState conflicts
      credential { id name }
      reading {
        readAt reportedState error failedAt offeredFingerprint requestedAt detailsReadAt
        inventory { manufacturer model serial uuid biosVersion bmcModel bmcFirmware cpuModel cpuCount memoryBytes macs }
        sensors { name kind value unit health }
        events { entryId at severity message }
      }
    }
    powerRunItems { nodeName result before after sentAt message run { id action bootDevice status reason createdAt createdBy { name } } }
  }
`)
export type NodePower = ResultOf<typeof BmcFragment>
export type Bmc = NonNullable<NodePower['bmc']>

export const NodePowerQuery = graphql(
  `
  query NodePower($id: ID!) {
    node(id: $id) { __typename ... on ComputeNode { ...NodePower } }
  }
`,
  [BmcFragment],
)

export const NodePowerUpdated = graphql(
  `
  subscription NodePowerUpdated($id: ID!) { nodeUpdated(id: $id) { ...NodePower } }
`,
  [BmcFragment],
)

export const SetNodeBmc = graphql(
  `
  mutation SetNodeBmc($input: SetNodeBmcInput!) {
    setNodeBmc(input: $input) {
      __typename
      ... on SetNodeBmcPayload { node { ...NodePower } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [BmcFragment],
)

export const RemoveNodeBmc = graphql(
  `
  mutation RemoveNodeBmc($nodeId: ID!) {
    removeNodeBmc(input: { nodeId: $nodeId }) {
      __typename
      ... on RemoveNodeBmcPayload { node { ...NodePower } }
      ... on Error { message code }
    }
  }
`,
  [BmcFragment],
)

export const ReadBmcs = graphql(
  `
  mutation ReadBmcs($nodeIds: [ID!]!) {
    readBmcs(input: { nodeIds: $nodeIds }) {
      __typename
      ... on ReadBmcsPayload { nodes { ...NodePower } }
      ... on Error { message code }
    }
  }
`,
  [BmcFragment],
)

export const PreviewPowerRun = graphql(`
  query PreviewPowerRun($input: PreviewPowerRunInput!) {
    previewPowerRun(input: $input) {
      __typename
      ... on PowerRunPreview {
        targetCount blockedCount parallelism delaySeconds
        targets(first: 50) { edges { node { name powerState readAt blockedReason } } }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type PowerInput = VariablesOf<typeof PreviewPowerRun>['input']
export type PowerAction = PowerInput['action']
export type BootDevice = NonNullable<PowerInput['bootDevice']>
export type PowerPreview = Extract<ResultOf<typeof PreviewPowerRun>['previewPowerRun'], { __typename: 'PowerRunPreview' }>

export const StartPowerRun = graphql(`
  mutation StartPowerRun($input: StartPowerRunInput!) {
    startPowerRun(input: $input) {
      __typename
      ... on StartPowerRunPayload { powerRun { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const CancelPowerRun = graphql(`
  mutation CancelPowerRun($id: ID!) {
    cancelPowerRun(input: { id: $id }) {
      __typename
      ... on CancelPowerRunPayload { powerRun { id status } }
      ... on Error { message code }
    }
  }
`)

const RunFragment = graphql(`
  fragment PowerRunProgress on PowerRun {
    id status targetCount finishedAt canceledBy
    results { result count }
    items(first: 500) { edges { node { nodeName before after result message } } }
  }
`)
export type PowerRunProgress = ResultOf<typeof RunFragment>

export const PowerRunUpdated = graphql(
  `
  subscription PowerRunUpdated($id: ID!) {
    powerRunUpdated(id: $id) { ...PowerRunProgress }
  }
`,
  [RunFragment],
)

export const isDangerous = (action: PowerAction) => action !== 'ON' && action !== 'BOOT_ONCE'
