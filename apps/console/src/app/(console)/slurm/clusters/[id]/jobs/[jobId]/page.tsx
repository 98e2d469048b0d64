'use client'
import Link from 'next/link'
import { useParams } from 'next/navigation'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { RecordClusterQuery } from '@/slurm/accounting/documents.ts'
import { RecordPanel } from '@/slurm/accounting/record-panel.tsx'
import { clusterHref } from '@/slurm/cluster-card.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'

/** The page of a job that the accounting recorded. */
export default function JobRecordPage() {
  const params = useParams()
  const clusterId = decodeURIComponent(String(params.id))
  const jobId = decodeURIComponent(String(params.jobId))
  const [{ data }] = useQuery({ query: RecordClusterQuery, variables: { id: clusterId } })
  const title = t('slurmJob.jobId', { id: jobId })
  useTitle(title)
  return (
    <>
      <PageHead
        above={
          <Link href={`${clusterHref(clusterId)}?tab=finished`} className="hover:underline">
            {data?.slurmCluster ? `${data.slurmCluster.name} · ${t('slurmHistory.title')}` : t('slurmHistory.title')}
          </Link>
        }
        title={<span>{title}</span>}
      />
      <RecordPanel clusterId={clusterId} jobId={jobId} />
    </>
  )
}
