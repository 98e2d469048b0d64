'use client'
import { useCallback } from 'react'
import { useClient } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { NodesByText } from '@/slurm/documents.ts'

/** Finds a node of Muster by its exact name; otherwise says why it was not found. */
export function useFindNode(): (name: string) => Promise<{ id: string } | { problem: string }> {
  const client = useClient()
  return useCallback(
    async (name) => {
      const { data, error } = await client.query(NodesByText, { text: name }, { requestPolicy: 'network-only' }).toPromise()
      if (error) return { problem: toProblem(error).message }
      const found = data?.nodes.edges.find(({ node }) => node.name === name)
      return found ? { id: found.node.id } : { problem: t('diff.noNode', { name }) }
    },
    [client],
  )
}
