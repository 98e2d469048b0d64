'use client'
import { useQuery } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { formatList } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { useSettled } from '@/ui/hooks/use-settled.ts'
import { MatchingNodes } from './documents.ts'

/** Names that the preview shows. */
const SHOWN = 8

/** Which nodes a member query, or the expression of a limit, matches now. */
export function MatchingNodesPreview({ kind, text }: { kind: 'query' | 'limit'; text: string }) {
  const settled = useSettled(text.trim())
  const [{ data, error, fetching }] = useQuery({
    query: MatchingNodes,
    variables: { filter: { [kind]: settled }, first: SHOWN },
    pause: settled === '',
    requestPolicy: 'cache-and-network',
  })
  if (settled === '') return null
  if (error) return <p className="text-xs text-bad">{toProblem(error).message}</p>
  if (!data || (fetching && !data)) return <p className="text-xs text-muted">{t('group.matching')}</p>
  const names = data.nodes.edges.map(({ node }) => node.name)
  const more = data.nodes.totalCount - names.length
  return (
    <p className="text-xs wrap-anywhere text-muted" aria-live="polite">
      {t('group.matches', { count: data.nodes.totalCount })}
      {names.length > 0 && `: ${formatList(more > 0 ? [...names, t('group.andMore', { count: formatNumber(more) })] : names)}`}
    </p>
  )
}
