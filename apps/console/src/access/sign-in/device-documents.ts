import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const FindDeviceSignIn = graphql(`
  mutation FindDeviceSignIn($userCode: String!) {
    findDeviceSignIn(input: { userCode: $userCode }) {
      __typename
      ... on FindDeviceSignInPayload {
        deviceSignIn { clientName clientAddress isSameAddress tokenName role isInstallationAdmin tokenExpiresInSeconds startedAt tenant { id name } }
      }
      ... on Error { message code }
    }
  }
`)
type Payload = Extract<ResultOf<typeof FindDeviceSignIn>['findDeviceSignIn'], { __typename: 'FindDeviceSignInPayload' }>
export type DeviceSignIn = Payload['deviceSignIn']

export const ApproveDeviceSignIn = graphql(`
  mutation ApproveDeviceSignIn($userCode: String!) {
    approveDeviceSignIn(input: { userCode: $userCode }) {
      __typename
      ... on ApproveDeviceSignInPayload { userCode }
      ... on Error { message code }
    }
  }
`)

export const DenyDeviceSignIn = graphql(`
  mutation DenyDeviceSignIn($userCode: String!) {
    denyDeviceSignIn(input: { userCode: $userCode }) {
      __typename
      ... on DenyDeviceSignInPayload { userCode }
      ... on Error { message code }
    }
  }
`)
