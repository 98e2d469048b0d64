import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const BootDurationsQuery = graphql(`
  query BootDurations($filter: BootDurationFilter) {
    bootDurations(filter: $filter) { stage boots p50Ms p95Ms }
  }
`)
export type BootDurationRow = ResultOf<typeof BootDurationsQuery>['bootDurations'][number]

/** Boots that do not progress have an open alert. */
export const StuckBootsQuery = graphql(`
  query StuckBoots($filter: AlertFilter, $first: Int, $after: String) {
    alerts(filter: $filter, first: $first, after: $after) {
      totalCount
      edges {
        node {
          id
          node { id name bootAttempts(first: 1) { edges { node { id profile profileVersion stuck { stage since } } } } }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type StuckBoot = ResultOf<typeof StuckBootsQuery>['alerts']['edges'][number]['node']

export const BootFiltersQuery = graphql(`
  query BootDurationFilters {
    nodeGroups(first: 500) { edges { node { id name } } }
    bootProfiles(first: 500) { edges { node { id name } } }
  }
`)
