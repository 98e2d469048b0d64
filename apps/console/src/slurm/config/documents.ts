import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

const ConfigFragment = graphql(`
  fragment SlurmClusterConfig on SlurmCluster {
    id configNumber configCheckedAt configDrift { host diff }
    saveConfigBlockedReason importConfigBlockedReason checkConfigBlockedReason
    configVersion { id number }
  }
`)
export type ClusterConfig = ResultOf<typeof ConfigFragment>

export const ConfigQuery = graphql(
  `
  query SlurmClusterConfig($id: ID!) {
    slurmCluster(id: $id) { ...SlurmClusterConfig }
  }
`,
  [ConfigFragment],
)

export const ConfigUpdated = graphql(
  `
  subscription SlurmClusterConfigUpdated($id: ID!) {
    slurmClusterUpdated(id: $id) { ...SlurmClusterConfig }
  }
`,
  [ConfigFragment],
)

export const VersionsQuery = graphql(`
  query SlurmConfigVersions($id: ID!, $first: Int, $after: String) {
    slurmCluster(id: $id) {
      id
      configVersions(first: $first, after: $after) {
        totalCount
        edges { node { id number origin basedOn reason createdAt createdBy { name } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`)
export type VersionRow = NonNullable<ResultOf<typeof VersionsQuery>['slurmCluster']>['configVersions']['edges'][number]['node']

export const FilesQuery = graphql(`
  query SlurmConfigFiles($id: ID!, $number: Int!) {
    slurmCluster(id: $id) { id configVersion(number: $number) { id number files { name text } } }
  }
`)

export const SettingsQuery = graphql(`
  query SlurmConfigSettings($id: ID!, $number: Int!) {
    slurmCluster(id: $id) {
      id
      configSettings(number: $number) {
        settings { key type group description default value }
        partitions { name settings { key type description default value } }
        nodes { name settings { key type description default value } }
      }
    }
  }
`)
export type ConfigSettings = NonNullable<NonNullable<ResultOf<typeof SettingsQuery>['slurmCluster']>['configSettings']>

export const DiffQuery = graphql(`
  query SlurmConfigDiff($id: ID!, $from: Int!, $to: Int!) {
    slurmCluster(id: $id) { id configDiff(from: $from, to: $to) { file lines { kind text } } }
  }
`)

export const PreviewConfig = graphql(`
  query PreviewSlurmConfig($input: PreviewSlurmConfigInput!) {
    previewSlurmConfig(input: $input) {
      __typename
      ... on SlurmConfigPreview {
        hosts blockedReason fingerprint
        problems { file line key severity message }
        diff { file lines { kind text } }
        plan { controllers restartedNodes addedNodes removedNodes lost }
        validation { state host message validatedAt }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type PreviewInput = VariablesOf<typeof PreviewConfig>['input']
export type FilesInput = NonNullable<PreviewInput['files']>
export type ConfigPreview = Extract<ResultOf<typeof PreviewConfig>['previewSlurmConfig'], { __typename: 'SlurmConfigPreview' }>

export const SaveConfig = graphql(`
  mutation SaveSlurmConfig($input: SaveSlurmConfigInput!) {
    saveSlurmConfig(input: $input) {
      __typename
      ... on SaveSlurmConfigPayload { slurmConfigVersion { id number } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const ImportConfig = graphql(`
  mutation ImportSlurmConfig($input: ImportSlurmConfigInput!) {
    importSlurmConfig(input: $input) {
      __typename
      ... on ImportSlurmConfigPayload { slurmOperation { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RolloutConfig = graphql(`
  mutation RolloutSlurmConfig($input: RolloutSlurmConfigInput!) {
    rolloutSlurmConfig(input: $input) {
      __typename
      ... on RolloutSlurmConfigPayload { slurmOperation { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RollbackConfig = graphql(`
  mutation RollbackSlurmConfig($input: RollbackSlurmConfigInput!) {
    rollbackSlurmConfig(input: $input) {
      __typename
      ... on RollbackSlurmConfigPayload { slurmOperation { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const ValidateConfig = graphql(`
  mutation ValidateSlurmConfig($input: ValidateSlurmConfigInput!) {
    validateSlurmConfig(input: $input) {
      __typename
      ... on ValidateSlurmConfigPayload { slurmOperation { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const CheckDrift = graphql(`
  mutation CheckSlurmConfigDrift($clusterId: ID!) {
    checkSlurmConfigDrift(input: { clusterId: $clusterId }) {
      __typename
      ... on CheckSlurmConfigDriftPayload { slurmOperation { id } }
      ... on Error { message code }
    }
  }
`)
