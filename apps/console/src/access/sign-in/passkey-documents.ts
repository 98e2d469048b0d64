import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const PasskeysQuery = graphql(`
  query Passkeys($first: Int, $after: String) {
    passkeys(first: $first, after: $after) {
      edges { node { id name deviceType createdAt lastUsedAt } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type Passkey = ResultOf<typeof PasskeysQuery>['passkeys']['edges'][number]['node']

export const StartPasskeySignIn = graphql(`
  mutation StartPasskeySignIn {
    startPasskeySignIn {
      __typename
      ... on StartPasskeySignInPayload { challenge options }
      ... on Error { message code }
    }
  }
`)

export const SignInWithPasskey = graphql(`
  mutation SignInWithPasskey($input: SignInWithPasskeyInput!) {
    signInWithPasskey(input: $input) {
      __typename
      ... on SignInWithPasskeyPayload { viewer { name } }
      ... on Error { message code }
    }
  }
`)

export const StartPasskeyRegistration = graphql(`
  mutation StartPasskeyRegistration($input: StartPasskeyRegistrationInput!) {
    startPasskeyRegistration(input: $input) {
      __typename
      ... on StartPasskeyRegistrationPayload { challenge options }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const FinishPasskeyRegistration = graphql(`
  mutation FinishPasskeyRegistration($input: FinishPasskeyRegistrationInput!) {
    finishPasskeyRegistration(input: $input) {
      __typename
      ... on FinishPasskeyRegistrationPayload { passkey { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RenamePasskey = graphql(`
  mutation RenamePasskey($input: RenamePasskeyInput!) {
    renamePasskey(input: $input) {
      __typename
      ... on RenamePasskeyPayload { passkey { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RemovePasskey = graphql(`
  mutation RemovePasskey($input: RemovePasskeyInput!) {
    removePasskey(input: $input) {
      __typename
      ... on RemovePasskeyPayload { removedId }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const DisconnectIdentity = graphql(`
  mutation DisconnectIdentity($input: DisconnectIdentityInput!) {
    disconnectIdentity(input: $input) {
      __typename
      ... on DisconnectIdentityPayload { viewer { name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
