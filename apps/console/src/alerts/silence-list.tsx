'use client'
import { BellOff } from 'lucide-react'
import { useEffect } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { EndAlertSilence, SilencesQuery } from './documents.ts'
import { MatcherText } from './matcher.tsx'

/** Active and future silences. The list reloads when `createdCount` grows. */
export function SilenceList({ createdCount }: { createdCount: number }) {
  const list = useConnection('silences', SilencesQuery, {}, (data) => data.alertSilences)
  const end = useMutation(EndAlertSilence)
  const { reload } = list
  useEffect(() => {
    if (createdCount > 0) void reload()
  }, [createdCount, reload])
  async function endNow(id: string) {
    const outcome = await end.run({ id })
    if (outcome.ok) void list.reload()
    else toast('bad', outcome.problem.message)
  }
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('silences.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading)
    return (
      <div className="rounded-lg border border-line bg-panel">
        <SkeletonRows rows={3} height={60} />
      </div>
    )
  if (list.rows.length === 0)
    return (
      <Empty icon={<BellOff aria-hidden />} title={t('silences.emptyTitle')}>
        <p>{t('silences.emptyText')}</p>
      </Empty>
    )
  return (
    <>
      <ul className="rounded-lg border border-line bg-panel">
        {list.rows.map((silence) => (
          <li
            key={silence.id}
            className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 text-sm last:border-0"
          >
            <div className="flex min-w-0 flex-1 basis-56 flex-col gap-1">
              <span className="font-medium">{silence.reason}</span>
              <MatcherText matcher={silence.matcher} />
              <span className="text-xs text-muted">
                {t('silences.until', { name: silence.createdBy.name, when: formatDateTime(silence.endsAt) })}
              </span>
            </div>
            <Button blockedReason={silence.endBlockedReason} busy={end.busy} onClick={() => void endNow(silence.id)}>
              {t('silences.end')}
            </Button>
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
    </>
  )
}
