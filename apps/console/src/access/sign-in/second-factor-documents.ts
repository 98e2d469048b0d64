import { graphql } from '@/graphql/graphql.ts'

export const VerifySecondFactor = graphql(`
  mutation VerifySecondFactor($input: VerifySecondFactorInput!) {
    verifySecondFactor(input: $input) {
      __typename
      ... on VerifySecondFactorPayload { viewer { name hasPassword } }
      ... on Error { message code }
    }
  }
`)

export const StartTotp = graphql(`
  mutation StartTotp($input: StartTotpInput!) {
    startTotp(input: $input) {
      __typename
      ... on StartTotpPayload { uri recoveryCodes }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const ConfirmTotp = graphql(`
  mutation ConfirmTotp($input: ConfirmTotpInput!) {
    confirmTotp(input: $input) {
      __typename
      ... on ConfirmTotpPayload { viewer { name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RemoveTotp = graphql(`
  mutation RemoveTotp($input: RemoveTotpInput!) {
    removeTotp(input: $input) {
      __typename
      ... on RemoveTotpPayload { viewer { name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const ReplaceRecoveryCodes = graphql(`
  mutation ReplaceRecoveryCodes($input: ReplaceRecoveryCodesInput!) {
    replaceRecoveryCodes(input: $input) {
      __typename
      ... on ReplaceRecoveryCodesPayload { recoveryCodes }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
