'use client'
import { FileCog, Plus } from 'lucide-react'
import Link from 'next/link'
import { useCallback, useState } from 'react'
import { useClient, useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { toProblem } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { ClusterUpdated } from '@/slurm/documents.ts'
import { ApplyDialog } from '@/slurm/snippets/apply-dialog.tsx'
import { DeleteSnippetDialog } from '@/slurm/snippets/delete-dialog.tsx'
import { type SnippetRow, SnippetsQuery, UnappliedQuery } from '@/slurm/snippets/documents.ts'
import { SnippetCard } from '@/slurm/snippets/snippet-card.tsx'
import { SnippetDialog } from '@/slurm/snippets/snippet-dialog.tsx'
import { useReloadOn } from '@/slurm/use-reload-on.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'

type Cluster = { id: string; name: string }
const clustersOf = ({ clusters }: SnippetRow): Cluster[] => clusters.map(({ cluster }) => cluster)

const SHOWN = 10
/** The first names, and how many follow. */
const namesOf = (clusters: readonly Cluster[]): string => {
  const names = clusters.slice(0, SHOWN).map(({ name }) => name)
  const more = clusters.length - names.length
  return `${names.join(', ')}${more > 0 ? ` ${t('slurmAction.more', { count: more })}` : ''}`
}

/** Lines of configuration files for several clusters. */
export default function SnippetsPage() {
  useTitle(t('slurmSnippet.title'))
  const list = useConnection('slurm-snippets', SnippetsQuery, {}, (data) => data.slurmConfigSnippets)
  // Versions of the clusters change the states.
  useLive(ClusterUpdated, {}, list.reloadDebounced)
  const blockedReason = useBlockedReason('slurm:config:write')
  const [editing, setEditing] = useState<SnippetRow | 'new' | null>(null)
  const [deleting, setDeleting] = useState<SnippetRow | null>(null)
  const [applying, setApplying] = useState<{ clusters: readonly Cluster[]; reason: string } | null>(null)
  const [{ data }, refetch] = useQuery({ query: UnappliedQuery, requestPolicy: 'cache-and-network' })
  const unapplied = data?.slurmClustersWithUnappliedSnippets ?? []
  const client = useClient()
  const refetchUnapplied = useCallback(() => refetch({ requestPolicy: 'network-only' }), [refetch])
  useReloadOn(
    list.rows.map(({ clusters }) => clusters.map(({ cluster, state }) => `${cluster.id} ${state}`)).join(),
    refetchUnapplied,
  )
  const reload = () => {
    void list.reload()
    refetchUnapplied()
  }
  /** After a change of a snippet, the next step is to apply it to its clusters. */
  async function applyTo(affected: readonly Cluster[], reason: string) {
    reload()
    const answer = await client.query(UnappliedQuery, {}, { requestPolicy: 'network-only' }).toPromise()
    if (answer.error) return toast('bad', toProblem(answer.error).message)
    const found = answer.data?.slurmClustersWithUnappliedSnippets ?? []
    const ids = new Set(affected.map(({ id }) => id))
    const next = found.filter(({ id }) => ids.has(id))
    if (next.length > 0) setApplying({ clusters: next, reason })
  }
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
      {unapplied.length > 0 && (
        <div className="pb-4">
          <Notice
            tone="warn"
            title={t('slurmSnippet.unapplied', { count: unapplied.length })}
            action={
              <Button blockedReason={blockedReason} onClick={() => setApplying({ clusters: unapplied, reason: '' })}>
                {t('slurmSnippet.review')}
              </Button>
            }
          >
            <p className="wrap-anywhere">{namesOf(unapplied)}</p>
          </Notice>
        </div>
      )}
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
      {editing && (
        <SnippetDialog
          snippet={editing === 'new' ? null : editing}
          onClose={() => setEditing(null)}
          onDone={(saved, reason) =>
            void applyTo([...clustersOf(saved), ...(editing === 'new' ? [] : clustersOf(editing))], reason)
          }
        />
      )}
      {deleting && (
        <DeleteSnippetDialog
          snippet={deleting}
          onClose={() => setDeleting(null)}
          onDone={(reason) => void applyTo(clustersOf(deleting), reason)}
        />
      )}
      {applying && <ApplyDialog {...applying} onClose={() => setApplying(null)} onDone={reload} />}
    </>
  )
}
