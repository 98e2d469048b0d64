'use client'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { DiscoveryDiffQuery } from '@/nodes/node-documents.ts'
import { Badge } from '@/ui/badge.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

/** Differences between two discoveries, the earlier first. */
export function DiffView({ before, after }: { before: string; after: string }) {
  const [{ data, error }, retry] = useQuery({ query: DiscoveryDiffQuery, variables: { before, after } })
  if (error)
    return <Failure title={t('diff.failed')} message={error.message} onRetry={() => retry({ requestPolicy: 'network-only' })} />
  if (!data) return <Skeleton className="h-32 w-full" />
  if (data.discoveryDiff.length === 0) return <p className="py-8 text-center text-sm text-muted">{t('diff.same')}</p>
  const kinds = { ADDED: 'ok', REMOVED: 'bad', CHANGED: 'warn' } as const
  return (
    <ul className="flex flex-col">
      {data.discoveryDiff.map((change) => (
        <li
          key={change.path}
          className="grid gap-x-4 gap-y-1 border-b border-line py-2 text-sm last:border-0 md:grid-cols-[90px_minmax(0,1fr)_minmax(0,1.6fr)]"
        >
          <span>
            <Badge tone={kinds[change.kind]}>{t(`diff.${change.kind}`)}</Badge>
          </span>
          <span className="min-w-0 break-words" title={change.path}>
            {change.label}
          </span>
          <span className="flex min-w-0 flex-wrap gap-x-2 font-mono text-xs leading-5 break-all">
            {change.before !== null && <del className="text-bad no-underline">{change.before}</del>}
            {change.before !== null && change.after !== null && (
              <span aria-hidden className="text-faint">
                →
              </span>
            )}
            {change.after !== null && <ins className="text-ok no-underline">{change.after}</ins>}
          </span>
        </li>
      ))}
    </ul>
  )
}
