import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const ViewerQuery = graphql(`
  query Viewer {
    viewer { kind name email role tenantName hasPassword }
  }
`)
export type Viewer = NonNullable<ResultOf<typeof ViewerQuery>['viewer']>

export const SignIn = graphql(`
  mutation SignIn($input: SignInInput!) {
    signIn(input: $input) {
      __typename
      ... on SignedIn { viewer { name hasPassword } }
      ... on Error { message code }
    }
  }
`)

export const SignInWithLink = graphql(`
  mutation SignInWithLink($input: SignInWithLinkInput!) {
    signInWithLink(input: $input) {
      __typename
      ... on SignedIn { viewer { name hasPassword } }
      ... on Error { message code }
    }
  }
`)

export const SignOut = graphql(`
  mutation SignOut { signOut }
`)

export const SetPassword = graphql(`
  mutation SetPassword($input: SetPasswordInput!) {
    setPassword(input: $input) {
      __typename
      ... on Viewer { kind name email role tenantName hasPassword }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
