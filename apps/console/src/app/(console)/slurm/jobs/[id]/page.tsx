'use client'
import { SearchX } from 'lucide-react'
import Link from 'next/link'
import { useParams } from 'next/navigation'
import { useRef } from 'react'
import { useQuery } from 'urql'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { RecordPanel } from '@/slurm/accounting/record-panel.tsx'
import { ActionMenu } from '@/slurm/actions/action-menu.tsx'
import { clusterHref } from '@/slurm/cluster-card.tsx'
import { JobQuery } from '@/slurm/cluster-documents.ts'
import { ClusterUpdated } from '@/slurm/documents.ts'
import { JobDetailsView } from '@/slurm/job-details.tsx'
import { ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

/** The page of a job, read again with each refresh of its cluster. */
export default function JobPage() {
  const id = decodeURIComponent(String(useParams().id))
  const [{ data, error }, refetch] = useQuery({ query: JobQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  const job = data?.node?.__typename === 'SlurmJob' ? data.node : null
  const title = job ? t('slurmJob.jobId', { id: job.jobId }) : t('slurmJob.job')
  useTitle(title)
  useLive(ClusterUpdated, job ? { id: job.cluster.id } : null, reload)
  useReconnect(reload)
  // slurmctld purged the job while the page was open: show its record in the accounting.
  const known = useRef<{ clusterId: string; jobId: string } | null>(null)
  if (job) known.current = { clusterId: job.cluster.id, jobId: job.jobId }
  if (error && !data) return <Failure title={t('slurmJob.loadFailed')} message={toProblem(error).message} onRetry={reload} />
  if (!data) return <Skeleton className="h-96 w-full" />
  if (!job && known.current)
    return (
      <>
        <PageHead
          above={
            <Link href={`${clusterHref(known.current.clusterId)}?tab=finished`} className="hover:underline">
              {t('slurmHistory.title')}
            </Link>
          }
          title={t('slurmJob.jobId', { id: known.current.jobId })}
        />
        <RecordPanel {...known.current} />
      </>
    )
  if (!job)
    return (
      <Empty
        icon={<SearchX aria-hidden />}
        title={t('slurmJob.goneTitle')}
        action={<ButtonLink href="/slurm/clusters">{t('slurm.allClusters')}</ButtonLink>}
      >
        <p>{t('slurmJob.gone')}</p>
      </Empty>
    )
  return (
    <>
      <PageHead
        above={
          <Link href={`${clusterHref(job.cluster.id)}?tab=jobs`} className="hover:underline">
            {job.cluster.name}
          </Link>
        }
        title={
          <>
            <span>{title}</span>
            <span className="truncate text-base font-normal text-muted">{job.name}</span>
          </>
        }
      >
        <ActionMenu
          clusterId={job.cluster.id}
          targets={{ kind: 'jobs', names: [job.jobId] }}
          permissions={job.actionPermissions}
          onDone={reload}
        />
      </PageHead>
      <JobDetailsView job={job} />
    </>
  )
}
