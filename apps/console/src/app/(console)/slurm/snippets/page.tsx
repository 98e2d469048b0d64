'use client'
import { FileCog, Plus } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { ClusterUpdated } from '@/slurm/documents.ts'
import { DeleteSnippetDialog } from '@/slurm/snippets/delete-dialog.tsx'
import { type SnippetRow, SnippetsQuery } from '@/slurm/snippets/documents.ts'
import { SnippetCard } from '@/slurm/snippets/snippet-card.tsx'
import { SnippetDialog } from '@/slurm/snippets/snippet-dialog.tsx'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { useTitle } from '@/ui/use-title.ts'

/** Lines of configuration files that several clusters have. */
export default function SnippetsPage() {
  useTitle(t('slurmSnippet.title'))
  const list = useConnection('slurm-snippets', SnippetsQuery, {}, (data) => data.slurmConfigSnippets)
  // Versions of the clusters change the states.
  useLive(ClusterUpdated, {}, list.reloadDebounced)
  const blockedReason = useBlockedReason('slurm:config:write')
  const [editing, setEditing] = useState<SnippetRow | 'new' | null>(null)
  const [deleting, setDeleting] = useState<SnippetRow | null>(null)
  const reload = () => void list.reload()
  const add = (
    <Button variant="primary" icon={<Plus aria-hidden />} blockedReason={blockedReason} onClick={() => setEditing('new')}>
      {t('slurmSnippet.new')}
    </Button>
  )
  return (
    <>
      <PageHead
        above={
          <Link href="/slurm" className="hover:underline">
            {t('slurmOverview.title')}
          </Link>
        }
        title={t('slurmSnippet.title')}
        count={list.total === null ? undefined : formatNumber(list.total)}
        below={<p className="text-sm text-muted">{t('slurmSnippet.text')}</p>}
      >
        {list.rows.length > 0 && add}
      </PageHead>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('slurmSnippet.loadFailed')} message={list.problem.message} onRetry={reload} />
      ) : list.isLoading ? (
        <Skeleton className="h-48 w-full" />
      ) : list.rows.length === 0 ? (
        <Empty icon={<FileCog aria-hidden />} title={t('slurmSnippet.emptyTitle')} action={add}>
          <p>{t('slurmSnippet.emptyText')}</p>
        </Empty>
      ) : (
        <ul className="flex flex-col gap-4" aria-label={t('slurmSnippet.title')}>
          {list.rows.map((snippet) => (
            <SnippetCard
              key={snippet.id}
              snippet={snippet}
              blockedReason={blockedReason}
              onEdit={() => setEditing(snippet)}
              onDelete={() => setDeleting(snippet)}
            />
          ))}
        </ul>
      )}
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
      {editing && <SnippetDialog snippet={editing === 'new' ? null : editing} onClose={() => setEditing(null)} onDone={reload} />}
      {deleting && <DeleteSnippetDialog snippet={deleting} onClose={() => setDeleting(null)} onDone={reload} />}
    </>
  )
}
