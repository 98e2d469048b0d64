import { formatNumber, t } from '@/messages/index.ts'
import { Panel } from '@/ui/page.tsx'
import { UseBar } from '../use-bar.tsx'
import type { Totals } from './documents.ts'

/** Numbers of all clusters together. */
export function TotalsPanel({ totals }: { totals: Totals }) {
  const { clusters, notAnswering, nodes, nodesInService, cpus, allocatedCpus, gpus, allocatedGpus } = totals
  const numbers = [
    [
      t('slurmOverview.clusters'),
      formatNumber(clusters),
      notAnswering > 0 && t('slurmOverview.notCurrent', { count: notAnswering }),
    ],
    [
      t('slurmOverview.nodesInService'),
      t('slurm.allocated', { used: formatNumber(nodesInService), total: formatNumber(nodes) }),
      false,
    ],
    [t('slurmOverview.running'), formatNumber(totals.runningJobs), false],
    [t('slurmOverview.pending'), formatNumber(totals.pendingJobs), false],
  ] as const
  return (
    <Panel title={t('slurm.totals')}>
      <div className="flex flex-col gap-4" data-testid="slurm-totals">
        <dl className="grid grid-cols-2 gap-4 md:grid-cols-4">
          {numbers.map(([label, value, detail]) => (
            <div key={label} className="flex min-w-0 flex-col gap-0.5">
              <dt className="text-xs text-muted">{label}</dt>
              <dd className="text-base font-semibold tabular-nums">
                {value}
                {detail && <span className="block text-xs font-normal text-bad">{detail}</span>}
              </dd>
            </div>
          ))}
        </dl>
        <div className="grid gap-4 sm:grid-cols-2">
          <UseBar label={t('slurm.cpus')} used={allocatedCpus} total={cpus} />
          <UseBar label={t('slurm.gpus')} used={allocatedGpus} total={gpus} none={t('slurm.noGpus')} />
        </div>
      </div>
    </Panel>
  )
}
