'use client'
import { useQuery } from 'urql'
import { formatList } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Failure } from '@/ui/failure.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { BootPreviewQuery } from './documents.ts'

/** What the node would receive if it booted now. */
export function BootPreview({ id }: { id: string }) {
  const [{ data, error }, refetch] = useQuery({
    query: BootPreviewQuery,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  if (error && !data)
    return (
      <Failure
        title={t('boot.previewFailed')}
        message={error.graphQLErrors[0]?.message ?? t('error.network')}
        onRetry={() => refetch({ requestPolicy: 'network-only' })}
      />
    )
  if (!data) return <Skeleton className="h-48 w-full" />
  return (
    <div className="flex flex-col gap-4">
      {data.bootPreview?.reason && <Notice tone="info">{data.bootPreview.reason}</Notice>}
      {data.bootPreview?.files
        .filter(({ content }) => content !== '')
        .map(({ kind, content, origins }) => (
          <Panel key={kind} title={t(`bootFetchKind.${kind}`)}>
            {origins.length > 0 && (
              <p className="pb-2 text-xs break-words text-muted">
                {t('boot.previewFrom', {
                  profiles: formatList(origins.map(({ name, version }) => t('boot.profile', { name, version }))),
                })}
              </p>
            )}
            <pre className="text-xs break-all whitespace-pre-wrap">{content}</pre>
          </Panel>
        ))}
    </div>
  )
}
