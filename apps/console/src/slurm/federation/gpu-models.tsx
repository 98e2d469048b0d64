import Link from 'next/link'
import { formatNumber, t } from '@/messages/index.ts'
import { Panel } from '@/ui/page.tsx'
import { clusterHref } from '../cluster-card.tsx'
import type { GpuModel } from './documents.ts'

const SHOWN_CLUSTERS = 12

/** Idle GPUs of each model, and in which clusters they are. */
export function GpuModels({ models }: { models: readonly GpuModel[] }) {
  return (
    <Panel title={t('slurmOverview.idleGpus')} flush>
      {models.length === 0 ? (
        <p className="p-4 text-sm text-muted">{t('slurm.noGpus')}</p>
      ) : (
        <ul aria-label={t('slurmOverview.idleGpus')}>
          {models.map((one) => (
            <Model key={one.model} model={one} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Model({ model: { model, idle, inService, gpus, clusters } }: { model: GpuModel }) {
  const hidden = clusters.length - SHOWN_CLUSTERS
  return (
    <li className="flex flex-col gap-1 border-b border-line px-4 py-2.5 last:border-0" data-testid="gpu-model">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="min-w-0 font-mono text-sm font-medium wrap-anywhere">{model}</span>
        <span className="text-sm tabular-nums">
          <span className="font-semibold">{t('slurmOverview.idle', { count: idle })}</span>{' '}
          <span className="text-xs text-muted">
            {t('slurmOverview.inService', { inService: formatNumber(inService), total: formatNumber(gpus) })}
          </span>
        </span>
      </div>
      <ul className="flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-muted">
        {clusters.slice(0, SHOWN_CLUSTERS).map((one) => (
          <li key={one.cluster.id} className="tabular-nums">
            <Link href={clusterHref(one.cluster.id)} className="hover:underline">
              {one.cluster.name}
            </Link>{' '}
            <span className="text-text">{formatNumber(one.idle)}</span>
          </li>
        ))}
        {hidden > 0 && <li>{t('slurmOverview.moreClusters', { count: hidden })}</li>}
      </ul>
    </li>
  )
}
