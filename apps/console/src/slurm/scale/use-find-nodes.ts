'use client'
import { useClient } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { NodesByLimit } from './documents.ts'

/** Finds the nodes of an expression; otherwise says why there are none. */
export function useFindNodes(): (limit: string) => Promise<{ ids: string[] } | { problem: string }> {
  const client = useClient()
  return async (limit) => {
    const { data, error } = await client.query(NodesByLimit, { limit }, { requestPolicy: 'network-only' }).toPromise()
    if (error) return { problem: toProblem(error).message }
    if (data?.nodes.pageInfo.hasNextPage) return { problem: t('slurmScale.tooMany') }
    const ids = data?.nodes.edges.map(({ node }) => node.id) ?? []
    return ids.length > 0 ? { ids } : { problem: t('slurmScale.noMatch') }
  }
}
