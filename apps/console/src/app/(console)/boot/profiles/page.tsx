'use client'
import { HardDriveDownload, Plus } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { profileHref } from '@/boot/profiles/documents.ts'
import { useProfiles } from '@/boot/profiles/use-profiles.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

/** With fewer profiles, nobody searches. */
const MIN_SEARCHED = 8

/** What nodes boot over the network. */
export default function BootProfilesPage() {
  useTitle(t('bootProfile.title'))
  const list = useProfiles()
  const blockedReason = useBlockedReason('boot_profile:write')
  const [search, setSearch] = useState('')
  const text = search.trim().toLowerCase()
  const shown = list.rows.filter(({ name, content }) => `${name} ${content.description}`.toLowerCase().includes(text))
  const add = blockedReason ? (
    <Button variant="primary" icon={<Plus aria-hidden />} blockedReason={blockedReason}>
      {t('bootProfile.new')}
    </Button>
  ) : (
    <ButtonLink href="/boot/new-profile" variant="primary" icon={<Plus aria-hidden />}>
      {t('bootProfile.new')}
    </ButtonLink>
  )
  return (
    <>
      <PageHead
        title={t('bootProfile.title')}
        count={list.total === null ? undefined : formatNumber(list.total)}
        below={<p className="text-sm text-muted">{t('bootProfile.text')}</p>}
      >
        <ButtonLink href="/boot/durations">{t('bootDuration.title')}</ButtonLink>
        <ButtonLink href="/boot/unknown-machines">{t('unknownMachine.title')}</ButtonLink>
        {list.rows.length > 0 && add}
      </PageHead>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('bootProfile.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : list.isLoading ? (
        <Skeleton className="h-48 w-full" />
      ) : list.rows.length === 0 ? (
        <Empty icon={<HardDriveDownload aria-hidden />} title={t('bootProfile.emptyTitle')} action={add}>
          <p>{t('bootProfile.emptyText')}</p>
        </Empty>
      ) : (
        <>
          {list.rows.length > MIN_SEARCHED && (
            <input
              type="search"
              aria-label={t('bootProfile.search')}
              placeholder={t('bootProfile.search')}
              value={search}
              onChange={(event) => setSearch(event.target.value)}
              className="mb-3 h-8 w-full max-w-xs rounded-md border border-line-strong bg-panel px-2.5 text-sm placeholder:text-faint"
            />
          )}
          <ul className="rounded-lg border border-line bg-panel" aria-label={t('bootProfile.title')}>
            {shown.map(({ id, name, version, updatedAt, parent, content, resolved, assignments }) => (
              <li key={id} className="flex flex-col gap-1 border-line px-4 py-3 text-sm not-first:border-t">
                <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <Link href={profileHref(name)} className="font-mono font-medium wrap-anywhere hover:underline">
                    {name}
                  </Link>
                  {content.arch && <Badge mono>{content.arch}</Badge>}
                  {!resolved.kernel && <Badge title={t('bootProfile.additionText')}>{t('bootProfile.addition')}</Badge>}
                  {resolved.kernel && resolved.problems.length > 0 && assignments.totalCount > 0 && (
                    <Badge tone="warn" title={resolved.problems.join(' ')}>
                      {t('bootProfile.incomplete')}
                    </Badge>
                  )}
                  {parent && <span className="text-xs text-muted">{t('bootProfile.inheritsFrom', { name: parent.name })}</span>}
                  <span className="ml-auto text-xs text-muted">
                    {t('bootProfile.assignmentCount', { count: assignments.totalCount })} ·{' '}
                    {t('bootProfile.version', { number: String(version) })} · <RelativeTime at={updatedAt} />
                  </span>
                </div>
                {content.description && <p className="text-muted wrap-anywhere">{content.description}</p>}
              </li>
            ))}
            {shown.length === 0 && <li className="px-4 py-3 text-sm text-muted">{t('choice.noMatch')}</li>}
          </ul>
        </>
      )}
    </>
  )
}
