import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const ViewerQuery = graphql(`
  query Viewer {
    viewer { kind name role user { id email } tenant { id name } tenants { id name } hasPassword needsPassword choosesEmail changeEmailBlockedReason hasSecondFactor signInMethods { kind name count removeBlockedReason } addPasskeyBlockedReason inviteBlockedReason permissions { name blockedReason } }
  }
`)
export type Viewer = NonNullable<ResultOf<typeof ViewerQuery>['viewer']>

export const SignIn = graphql(`
  mutation SignIn($input: SignInInput!) {
    signIn(input: $input) {
      __typename
      ... on SignInPayload { viewer { name hasPassword } }
      ... on SecondFactorRequiredError { challenge }
      ... on Error { message code }
    }
  }
`)

export const SignInWithLink = graphql(`
  mutation SignInWithLink($input: SignInWithLinkInput!) {
    signInWithLink(input: $input) {
      __typename
      ... on SignInWithLinkPayload { viewer { name hasPassword } }
      ... on Error { message code }
    }
  }
`)

export const SignOut = graphql(`
  mutation SignOut {
    signOut {
      __typename
      ... on SignOutPayload { continueUrl }
      ... on Error { message code }
    }
  }
`)

export const SetPassword = graphql(`
  mutation SetPassword($input: SetPasswordInput!) {
    setPassword(input: $input) {
      __typename
      ... on SetPasswordPayload { viewer { kind name role user { id email } tenant { id name } tenants { id name } hasPassword needsPassword choosesEmail changeEmailBlockedReason hasSecondFactor signInMethods { kind name count removeBlockedReason } addPasskeyBlockedReason inviteBlockedReason permissions { name blockedReason } } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RequestEmailChange = graphql(`
  mutation RequestEmailChange($input: RequestEmailChangeInput!) {
    requestEmailChange(input: $input) {
      __typename
      ... on RequestEmailChangePayload { email }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const ConfirmEmailChange = graphql(`
  mutation ConfirmEmailChange($token: String!) {
    confirmEmailChange(input: { token: $token }) {
      __typename
      ... on ConfirmEmailChangePayload { viewer { user { id email } } }
      ... on Error { message code }
    }
  }
`)
