import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

export const AddNode = graphql(`
  mutation AddNode($input: AddNodeInput!) {
    addNode(input: $input) {
      __typename
      ... on AddNodePayload { node { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const CheckNodeImport = graphql(`
  query CheckNodeImport($input: CheckNodeImportInput!) {
    checkNodeImport(input: $input) {
      __typename
      ... on NodeImportReport {
        addedCount failedCount
        rows { row source name host port state issues { path message } node { id name } }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const ImportNodes = graphql(`
  mutation ImportNodes($input: ImportNodesInput!) {
    importNodes(input: $input) {
      __typename
      ... on ImportNodesPayload {
        report { addedCount failedCount rows { row source name host port state issues { path message } node { id name } } }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type ImportInput = VariablesOf<typeof ImportNodes>['input']
export type ImportReport = Extract<ResultOf<typeof ImportNodes>['importNodes'], { __typename: 'ImportNodesPayload' }>['report']
export type ImportRow = ImportReport['rows'][number]

export const LabOfferQuery = graphql(`
  query LabOffer {
    labOffer { areCredentialsReady nodeImport { format text } nodes { name host port profile isBehindBastion isAdded } }
  }
`)
export type LabOffer = NonNullable<ResultOf<typeof LabOfferQuery>['labOffer']>
