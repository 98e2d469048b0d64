'use client'
import { type ReactNode, useMemo } from 'react'
import { useQuery } from 'urql'
import { toProblem, unwrap } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Notice } from '@/ui/notice.tsx'
import { PropertyList } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { type NodeStateChange, type NodeStatePreview, PreviewNodeState } from './documents.ts'

const names = (hostlist: string) => <span className="font-mono text-xs break-all">{hostlist}</span>

/** What a change of the state of nodes would do: the nodes by name, their jobs, runs, clusters and alerts. */
export function StatePreview({ ids, change }: { ids: string[]; change: NodeStateChange }) {
  const input = useMemo(() => ({ nodeIds: ids, change }), [ids, change])
  const [{ data, error }] = useQuery({ query: PreviewNodeState, variables: { input }, requestPolicy: 'network-only' })
  if (error) return <Notice tone="bad">{toProblem(error).message}</Notice>
  if (!data) return <Skeleton className="h-24 w-full" />
  const outcome = unwrap(data)
  if (!outcome.ok) return <Notice tone="bad">{outcome.problem.message}</Notice>
  return <Loaded change={change} preview={outcome.value} />
}

function Loaded({ change, preview }: { change: NodeStateChange; preview: NodeStatePreview }) {
  const { rejections, clusters, runs, slurmJobIds, unknownJobsHostlist, openAlerts, agentCount } = preview
  const jobs = [
    t('nodeState.jobs', { count: preview.runningJobs }),
    ...(slurmJobIds.length > 0 ? [t('nodeState.slurmJobs', { ids: slurmJobIds.slice(0, 20).join(', ') })] : []),
  ].join(' · ')
  return (
    <div className="flex flex-col gap-3" role="status">
      {rejections.length > 0 && (
        <Notice tone="bad" title={t('nodeState.refused')}>
          <ul className="flex flex-col gap-1">
            {rejections.map(({ reason, hostlist }) => (
              <li key={reason}>
                {!reason.includes(hostlist) && names(hostlist)} {reason}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <PropertyList
        rows={[
          [t('nodeState.nodes'), names(preview.hostlist)],
          [t('nodeState.runningJobs'), jobs],
          ...(unknownJobsHostlist ? [row(t('nodeState.unknownJobs'), names(unknownJobsHostlist))] : []),
          ...clusters.map(({ name, hostlist }) => row(t('nodeState.cluster', { name }), names(hostlist))),
          ...runs.map(({ number, templateName, hostlist }) =>
            row(t('nodeState.run', { number: String(number), template: templateName }), names(hostlist)),
          ),
          ...(change === 'DRAIN' ? [] : [row(t(`nodeState.alerts.${change}`), String(openAlerts))]),
          ...(agentCount > 0 ? [row(t('nodeState.agents'), String(agentCount))] : []),
        ]}
      />
    </div>
  )
}

const row = (label: string, value: ReactNode): [string, ReactNode] => [label, value]
