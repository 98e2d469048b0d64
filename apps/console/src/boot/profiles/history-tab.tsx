'use client'
import { useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Failure } from '@/ui/failure.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { type Profile, RestoreProfile, type VersionRow, VersionsQuery } from './documents.ts'
import { fieldLabel, Value } from './values.tsx'

const NONE = { edges: [], pageInfo: { hasNextPage: false, endCursor: null } }

/** The versions of a profile, newest first, each with what it changed. */
export function HistoryTab({ profile, onRestored }: { profile: Profile; onRestored: () => void }) {
  const { id, name, version, updateBlockedReason } = profile
  const list = useConnection(`boot-versions ${version}`, VersionsQuery, { name }, (data) => data.bootProfile?.versions ?? NONE)
  const restore = useMutation(RestoreProfile)
  const [restoring, setRestoring] = useState<VersionRow | null>(null)
  async function run(number: number) {
    const outcome = await restore.run({ input: { id, version, number } })
    if (outcome.ok) {
      toast('ok', t('bootProfile.restored', { number: String(number) }))
      onRestored()
    }
    return outcome
  }
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('bootProfile.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading) return <Skeleton className="h-48 w-full" />
  return (
    <>
      <ul className="flex flex-col gap-3" aria-label={t('bootProfile.history')}>
        {list.rows.map((row) => (
          <li key={row.id} className="rounded-lg border border-line bg-panel p-4" data-testid={`boot-version-${row.number}`}>
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <h3 className="text-sm font-semibold">{t('bootProfile.version', { number: String(row.number) })}</h3>
              {row.number === version && <Badge tone="accent">{t('bootProfile.newest')}</Badge>}
              <span className="mr-auto text-xs text-muted">
                {row.createdBy.name} · <RelativeTime at={row.createdAt} />
              </span>
              {row.number !== version && (
                <Button blockedReason={updateBlockedReason} onClick={() => setRestoring(row)}>
                  {t('bootProfile.restore')}
                </Button>
              )}
            </div>
            {row.comment && <p className="pt-1 text-sm wrap-anywhere">{row.comment}</p>}
            <details className="pt-2">
              <summary className="cursor-pointer text-sm text-muted">
                {t('bootProfile.changes', { count: row.changes.length })}
              </summary>
              <ul className="flex flex-col divide-y divide-line pt-2">
                {row.changes.map(({ field, before, after }) => (
                  <li key={field} className="grid gap-x-4 gap-y-1 py-2 text-sm sm:grid-cols-[minmax(88px,150px)_1fr_1fr]">
                    <span className="text-muted">{fieldLabel(field)}</span>
                    <div className="min-w-0">
                      <p className="text-xs text-faint">{t('bootProfile.before')}</p>
                      <Value value={before} />
                    </div>
                    <div className="min-w-0">
                      <p className="text-xs text-faint">{t('bootProfile.after')}</p>
                      <Value value={after} />
                    </div>
                  </li>
                ))}
              </ul>
            </details>
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
      {restoring && (
        <Confirm
          title={t('bootProfile.restoreTitle', { number: String(restoring.number) })}
          action={t('bootProfile.restore')}
          onConfirm={() => run(restoring.number)}
          onClose={() => setRestoring(null)}
        >
          <p>{t('bootProfile.restoreText', { name })}</p>
        </Confirm>
      )}
    </>
  )
}
