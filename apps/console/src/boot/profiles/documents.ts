import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

export const ProfilesQuery = graphql(`
  query BootProfiles($first: Int, $after: String) {
    bootProfiles(first: $first, after: $after) {
      totalCount
      edges { node { id name version updatedAt parent { id name } content { description arch } resolved { problems kernel { url } } assignments { totalCount } } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)

const ResolvedFragment = graphql(`
  fragment ResolvedBootProfile on ResolvedBootProfile {
    source { name version } problems
    origins { field value isOverridden source { name version } }
  }
`)
export type Resolved = ResultOf<typeof ResolvedFragment>
export type Origin = Resolved['origins'][number]

const ProfileFragment = graphql(
  `
  fragment BootProfilePage on BootProfile {
    id name version updatedAt updatedBy { name } parent { id name }
    content {
      description arch kernel { url checksum } initrds { url checksum } rootImage { url checksum }
      kernelParams adminUser sshKeys userData vendorData networkConfig
    }
    resolved { ...ResolvedBootProfile }
    updateBlockedReason assignBlockedReason deleteBlockedReason
  }
`,
  [ResolvedFragment],
)
export type Profile = ResultOf<typeof ProfileFragment>
export type Content = Profile['content']

export const ProfileQuery = graphql(
  `
  query BootProfile($name: String!) {
    bootProfile(name: $name) { ...BootProfilePage }
  }
`,
  [ProfileFragment],
)

export const VersionsQuery = graphql(`
  query BootProfileVersions($name: String!, $first: Int, $after: String) {
    bootProfile(name: $name) {
      id
      versions(first: $first, after: $after) {
        totalCount
        edges { node { id number comment createdAt createdBy { name } changes { field before after } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`)
export type VersionRow = NonNullable<ResultOf<typeof VersionsQuery>['bootProfile']>['versions']['edges'][number]['node']

export const AssignmentsQuery = graphql(`
  query BootAssignments($name: String!, $first: Int, $after: String) {
    bootProfile(name: $name) {
      id
      assignments(first: $first, after: $after) {
        totalCount
        edges { node { id target priority node { id name } group { id name } createdAt createdBy { name } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`)
export type AssignmentRow = NonNullable<ResultOf<typeof AssignmentsQuery>['bootProfile']>['assignments']['edges'][number]['node']

export const EffectiveQuery = graphql(
  `
  query EffectiveBootProfile($id: ID!) {
    node(id: $id) {
      __typename
      ... on ComputeNode {
        id
        effectiveBootProfile {
          reason
          resolved { ...ResolvedBootProfile }
          candidates { source { name version } target groupName priority isAddition lostReason }
        }
      }
    }
  }
`,
  [ResolvedFragment],
)
type NodeResult = NonNullable<ResultOf<typeof EffectiveQuery>['node']>
export type Effective = Extract<NodeResult, { __typename: 'ComputeNode' }>['effectiveBootProfile']
export type Candidate = Effective['candidates'][number]

export const CreateProfile = graphql(
  `
  mutation CreateBootProfile($input: CreateBootProfileInput!) {
    createBootProfile(input: $input) {
      __typename
      ... on CreateBootProfilePayload { bootProfile { ...BootProfilePage } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [ProfileFragment],
)

export const UpdateProfile = graphql(
  `
  mutation UpdateBootProfile($input: UpdateBootProfileInput!) {
    updateBootProfile(input: $input) {
      __typename
      ... on UpdateBootProfilePayload { bootProfile { ...BootProfilePage } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [ProfileFragment],
)
export type ContentInput = Omit<VariablesOf<typeof UpdateProfile>['input'], 'id' | 'version'>

export const RestoreProfile = graphql(
  `
  mutation RestoreBootProfile($input: RestoreBootProfileInput!) {
    restoreBootProfile(input: $input) {
      __typename
      ... on RestoreBootProfilePayload { bootProfile { ...BootProfilePage } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [ProfileFragment],
)

export const DeleteProfile = graphql(`
  mutation DeleteBootProfile($input: DeleteBootProfileInput!) {
    deleteBootProfile(input: $input) {
      __typename
      ... on DeleteBootProfilePayload { deletedId }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const AssignProfile = graphql(`
  mutation AssignBootProfile($input: AssignBootProfileInput!) {
    assignBootProfile(input: $input) {
      __typename
      ... on AssignBootProfilePayload { bootProfile { id deleteBlockedReason } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const UnassignProfile = graphql(`
  mutation UnassignBootProfile($input: UnassignBootProfileInput!) {
    unassignBootProfile(input: $input) {
      __typename
      ... on UnassignBootProfilePayload { bootProfile { id deleteBlockedReason } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const profileHref = (name: string): string => `/boot/profiles/${encodeURIComponent(name)}`
