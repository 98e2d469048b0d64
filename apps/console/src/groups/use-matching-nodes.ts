'use client'
import { useClient } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { MatchingNodes } from './documents.ts'

/** Maximum number of nodes in one change of members. */
const MAX = 10_000

/** Reads the IDs of the nodes that an expression selects, or returns why there are none. */
export function useMatchingNodes(): (limit: string) => Promise<{ ids: string[] } | { problem: string }> {
  const client = useClient()
  return async (limit) => {
    const ids: string[] = []
    let after: string | null = null
    do {
      const variables: { filter: { limit: string }; first: number; after: string | null } = {
        filter: { limit },
        first: 500,
        after,
      }
      const { data, error } = await client.query(MatchingNodes, variables, { requestPolicy: 'network-only' }).toPromise()
      if (!data) return { problem: error ? toProblem(error).message : t('error.unknown') }
      if (data.nodes.totalCount > MAX) return { problem: t('group.tooMany', { max: formatNumber(MAX) }) }
      ids.push(...data.nodes.edges.map(({ node }) => node.id))
      after = data.nodes.pageInfo.hasNextPage ? data.nodes.pageInfo.endCursor : null
    } while (after !== null)
    return ids.length > 0 ? { ids } : { problem: t('slurmScale.noMatch') }
  }
}
