import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'
import { MatcherFragment } from './documents.ts'

export const RouteFragment = graphql(
  `
  fragment AlertRouteRow on AlertRoute {
    id name kind origin host port security username from to hasSecret isEnabled notifyOnResolve failingSince lastError updateBlockedReason
    matcher { ...Matcher }
  }
`,
  [MatcherFragment],
)
export type Route = ResultOf<typeof RouteFragment>

export const RoutesQuery = graphql(
  `
  query AlertRoutes($first: Int, $after: String) {
    alertRoutes(first: $first, after: $after) {
      edges { node { ...AlertRouteRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [RouteFragment],
)

export const CreateAlertRoute = graphql(`
  mutation CreateAlertRoute($input: CreateAlertRouteInput!) {
    createAlertRoute(input: $input) {
      __typename
      ... on CreateAlertRoutePayload { alertRoute { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type RouteInput = VariablesOf<typeof CreateAlertRoute>['input']

export const UpdateAlertRoute = graphql(
  `
  mutation UpdateAlertRoute($input: UpdateAlertRouteInput!) {
    updateAlertRoute(input: $input) {
      __typename
      ... on UpdateAlertRoutePayload { alertRoute { ...AlertRouteRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [RouteFragment],
)

export const DeleteAlertRoute = graphql(`
  mutation DeleteAlertRoute($id: ID!) {
    deleteAlertRoute(input: { id: $id }) { __typename ... on DeleteAlertRoutePayload { deletedId } ... on Error { message code } }
  }
`)

export const TestAlertRoute = graphql(`
  mutation TestAlertRoute($id: ID!) {
    testAlertRoute(input: { id: $id }) { __typename ... on TestAlertRoutePayload { alertDelivery { id status lastError } } ... on Error { message code } }
  }
`)

export const DeliveryQuery = graphql(`
  query AlertDelivery($id: ID!) { node(id: $id) { __typename ... on AlertDelivery { id status lastError } } }
`)
