'use client'
import clsx from 'clsx'
import { useQuery } from 'urql'
import { graphql } from '@/graphql/graphql.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'

const NodeCount = graphql(`
  query NodeCount($filter: NodeFilter) { nodes(filter: $filter, first: 1) { totalCount } }
`)
const OneNode = graphql(`
  query OneNode($id: ID!) { node(id: $id) { __typename ... on ComputeNode { id name } } }
`)

/** The target of a run: selected nodes or a limit. */
export function Target({
  ids,
  limit,
  onLimit,
  onDropNodes,
  error,
}: {
  ids: string[]
  limit: string
  onLimit: (limit: string) => void
  onDropNodes: () => void
  error?: string
}) {
  const [{ data: all }] = useQuery({ query: NodeCount, variables: {} })
  const [{ data: one }] = useQuery({ query: OneNode, variables: { id: ids[0] ?? '' }, pause: ids.length !== 1 })
  if (ids.length > 0) {
    const only = one?.node?.__typename === 'ComputeNode' ? one.node.name : null
    return (
      <div className="flex flex-wrap items-center gap-3 text-sm">
        <span className={clsx('font-medium', only && 'font-mono')}>{only ?? t('runs.chosenNodes', { count: ids.length })}</span>
        <Button variant="quiet" onClick={onDropNodes}>
          {t('runs.useLimit')}
        </Button>
        {error && (
          <span role="alert" className="text-xs text-bad">
            {error}
          </span>
        )}
      </div>
    )
  }
  return (
    <TextField
      label={t('runs.limit')}
      mono
      value={limit}
      onChange={(event) => onLimit(event.target.value)}
      placeholder={t('runs.limitExample')}
      error={error}
      hint={limit.trim() === 'all' && all ? t('runs.limitAll', { count: all.nodes.totalCount }) : t('runs.limitHint')}
    />
  )
}
