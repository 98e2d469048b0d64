import { formatDuration } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Badge, State } from '@/ui/badge.tsx'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { jobTone, nodeTone } from './badges.tsx'
import type { ClusterPage } from './cluster-documents.ts'
import { CommandList } from './command-list.tsx'
import { ControllerNames } from './controllers.tsx'
import { jobReasonText } from './job-reason.ts'
import { UseBar } from './use-bar.tsx'

const formatMicroseconds = (us: number): string => formatDuration(us / 1000)

const link = (id: string) => `/nodes/${encodeURIComponent(id)}`

/** Use, states, pending jobs, controllers and the commands of the last refresh. */
export function OverviewTab({
  cluster,
  onState,
}: {
  cluster: ClusterPage
  onState: (tab: 'nodes' | 'jobs', state: string) => void
}) {
  const { totals, scheduler } = cluster
  const reused = [
    cluster.reuseConfig && t('slurm.reuseConfig'),
    cluster.reuseMungeKey && t('slurm.reuseMunge'),
    cluster.reuseDatabase && t('slurm.reuseDatabase'),
  ].filter((text) => text !== false)
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <Panel title={t('slurm.nodes')}>
        <div className="flex flex-col gap-4">
          <div className="grid grid-cols-2 gap-4">
            <UseBar label={t('slurm.cpus')} used={totals.allocatedCpus} total={totals.cpus} />
            <UseBar label={t('slurm.gpus')} used={totals.allocatedGpus} total={totals.gpus} none={t('slurm.noGpus')} />
          </div>
          <ul className="flex flex-col gap-1" aria-label={t('slurmNode.folded')}>
            {totals.nodesByState.map(({ state, nodes, nodeList }) => (
              <li key={state}>
                <button
                  type="button"
                  onClick={() => onState('nodes', state)}
                  className="flex w-full items-center justify-between gap-3 rounded-md px-2 py-1 text-left text-sm hover:bg-hover"
                >
                  <State tone={nodeTone(state)}>
                    <span className="font-mono text-xs">{state}</span>
                  </State>
                  <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted" title={nodeList}>
                    {nodeList}
                  </span>
                  <span className="tabular-nums">{formatNumber(nodes)}</span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      </Panel>
      <Panel title={t('slurm.jobs')}>
        <div className="flex flex-col gap-4">
          <ul className="flex flex-wrap gap-2">
            {totals.jobsByState.map(({ state, jobs }) => (
              <li key={state}>
                <button type="button" onClick={() => onState('jobs', state)} className="rounded-md hover:bg-hover">
                  <Badge tone={jobTone(state)}>
                    <span className="font-mono">{state}</span> <span className="tabular-nums">{formatNumber(jobs)}</span>
                  </Badge>
                </button>
              </li>
            ))}
            {totals.jobsByState.length === 0 && <li className="text-sm text-muted">{t('slurmJob.emptyText')}</li>}
          </ul>
          {totals.pendingReasons.length > 0 && (
            <div className="flex flex-col gap-1">
              <h3 className="text-xs font-medium text-muted">{t('slurm.pendingReasons')}</h3>
              <ul className="flex flex-col gap-1 text-sm">
                {totals.pendingReasons.slice(0, 8).map(({ reason, jobs }) => (
                  <li key={reason} className="flex items-baseline justify-between gap-3">
                    <span className="min-w-0">
                      <span className="font-mono text-xs">{reason}</span>{' '}
                      <span className="text-xs text-muted">{jobReasonText(reason)}</span>
                    </span>
                    <span className="tabular-nums">{formatNumber(jobs)}</span>
                  </li>
                ))}
              </ul>
            </div>
          )}
        </div>
      </Panel>
      <Panel title={t('slurm.controller')}>
        <PropertyList
          rows={[
            [t('slurm.controllers'), <ControllerNames key="c" controllers={cluster.controllers} />],
            [
              t('slurm.controllerNode'),
              cluster.controllerNode ? (
                <a key="n" href={link(cluster.controllerNode.id)} className="underline underline-offset-2">
                  {cluster.controllerNode.name}
                </a>
              ) : (
                t('slurm.noController')
              ),
            ],
            ...(cluster.backupNode
              ? [
                  [
                    t('slurm.backup'),
                    <a key="b" href={link(cluster.backupNode.id)} className="underline underline-offset-2">
                      {cluster.backupNode.name}
                    </a>,
                  ] as [string, React.ReactNode],
                ]
              : []),
            ...(cluster.slurmrestdSocket || cluster.slurmrestdCredential
              ? [
                  [
                    t('slurmrestd.name'),
                    cluster.slurmrestdSocket ?? `${cluster.slurmrestdCredential?.host}:${cluster.slurmrestdCredential?.port}`,
                  ] as [string, React.ReactNode],
                ]
              : []),
            [t('slurm.clusterName'), cluster.clusterName ?? t('common.none')],
            [t('slurm.version'), cluster.version ?? t('common.none')],
            [t('slurm.discovered'), <RelativeTime key="d" at={cluster.discoveredAt} />],
            [t('slurm.reuse'), reused.length > 0 ? reused.join(', ') : t('slurm.reuseNone')],
            ...(cluster.maxNodes === null
              ? []
              : [[t('slurm.maxNodes'), formatNumber(cluster.maxNodes)] as [string, React.ReactNode]]),
            ...(scheduler
              ? ([
                  [t('slurm.schedulerMain'), formatMicroseconds(scheduler.main.lastUs)],
                  [t('slurm.schedulerBackfill'), formatMicroseconds(scheduler.backfill.lastUs)],
                  [t('slurm.schedulerQueue'), formatNumber(scheduler.main.queueLength)],
                  [t('slurm.schedulerThreads'), formatNumber(scheduler.serverThreads)],
                ] as [string, React.ReactNode][])
              : []),
          ]}
        />
      </Panel>
      <Panel title={t('slurm.commands')}>
        <CommandList commands={cluster.queries} />
      </Panel>
    </div>
  )
}
