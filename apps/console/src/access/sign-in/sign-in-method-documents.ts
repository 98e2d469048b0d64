import { graphql, type ResultOf } from '@/graphql/graphql.ts'

/** Also for users who are not signed in. */
export const SignInMethodsQuery = graphql(`
  query SignInMethods {
    signInMethods { kind name }
  }
`)

export const SignInMethodSettingsQuery = graphql(`
  query SignInMethodSettings {
    signInMethods { kind name details { address redirectUri groupRoles { group tenant role } } }
  }
`)
export type SignInMethod = ResultOf<typeof SignInMethodSettingsQuery>['signInMethods'][number]

export const CheckSignInMethod = graphql(`
  mutation CheckSignInMethod($input: CheckSignInMethodInput!) {
    checkSignInMethod(input: $input) {
      __typename
      ... on CheckSignInMethodPayload { findings { severity message nextStep } }
      ... on Error { message code }
    }
  }
`)

export const StartOidcSignIn = graphql(`
  mutation StartOidcSignIn($input: StartOidcSignInInput!) {
    startOidcSignIn(input: $input) {
      __typename
      ... on StartOidcSignInPayload { url }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const FinishOidcSignIn = graphql(`
  mutation FinishOidcSignIn($input: FinishOidcSignInInput!) {
    finishOidcSignIn(input: $input) {
      __typename
      ... on FinishOidcSignInPayload { viewer { name } }
      ... on SecondFactorRequiredError { challenge }
      ... on Error { message code }
    }
  }
`)

export const SignInWithLdap = graphql(`
  mutation SignInWithLdap($input: SignInWithLdapInput!) {
    signInWithLdap(input: $input) {
      __typename
      ... on SignInWithLdapPayload { viewer { name } }
      ... on SecondFactorRequiredError { challenge }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
