import { graphql } from '@/graphql/graphql.ts'

export const ConfirmIdentity = graphql(`
  mutation ConfirmIdentity($input: ConfirmIdentityInput!) {
    confirmIdentity(input: $input) {
      __typename
      ... on ConfirmIdentityPayload { viewer { name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const StartPasskeyConfirmation = graphql(`
  mutation StartPasskeyConfirmation {
    startPasskeyConfirmation {
      __typename
      ... on StartPasskeyConfirmationPayload { challenge options }
      ... on Error { message code }
    }
  }
`)

export const StepUpQuery = graphql(`
  query StepUp {
    viewer { tenant { id stepUpMinutes } }
  }
`)

export const SetStepUp = graphql(`
  mutation SetStepUp($input: SetStepUpInput!) {
    setStepUp(input: $input) {
      __typename
      ... on SetStepUpPayload { tenant { id stepUpMinutes } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
