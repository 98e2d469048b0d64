import Link from 'next/link'
import { t } from '@/messages/index.ts'
import { clusterHref } from '@/slurm/cluster-card.tsx'
import { State, type Tone } from '@/ui/badge.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { Elapsed } from '@/ui/relative-time.tsx'
import { isUnfinished, RunStatus } from './badges.tsx'
import type { RunHead } from './documents.ts'
import { runHref } from './run-line.tsx'

type Slurm = NonNullable<RunHead['slurm']>
type Batch = Slurm['batches'][number]

const tones: Record<Batch['phase'], Tone> = {
  DRAINING: 'accent',
  WAITING_FOR_JOBS: 'warn',
  RUNNING: 'accent',
  VERIFYING: 'accent',
  RESUMING: 'accent',
  DONE: 'ok',
  FAILED: 'bad',
}

/** Batches of a run over Slurm nodes, and the nodes that it keeps drained. */
export function Batches({ run, slurm }: { run: RunHead; slurm: Slurm }) {
  const { batches, cluster, clusterName, drained, pending, waitsFor } = slurm
  const hasEnded = !isUnfinished(run.status)
  return (
    <div className="mb-4">
      <Panel
        flush
        title={t('slurmRun.batches')}
        actions={
          <span className="text-sm text-muted">
            {cluster ? (
              <Link href={clusterHref(cluster.id)} className="underline underline-offset-2">
                {clusterName}
              </Link>
            ) : (
              clusterName
            )}
          </span>
        }
      >
        {waitsFor && !hasEnded && (
          <p className="border-b border-line px-4 py-2 text-sm text-warn">{t('slurmRun.waitsFor', { what: waitsFor })}</p>
        )}
        {!hasEnded && drained.count > 0 && (
          <p className="border-b border-line px-4 py-2 text-sm text-muted">
            {t('slurmRun.drainedNow')} <span className="font-mono text-xs break-all">{drained.hostlist}</span>
          </p>
        )}
        {hasEnded && drained.count > 0 && (
          <div className="border-b border-line p-3">
            <Notice tone="warn" title={t('slurmRun.stillDrained', { count: drained.count })}>
              <p className="font-mono text-xs break-all">{drained.hostlist}</p>
            </Notice>
          </div>
        )}
        <ul aria-label={t('slurmRun.batches')} className="max-h-80 overflow-auto">
          {batches.map((batch) => (
            <BatchLine key={batch.number} batch={batch} />
          ))}
        </ul>
        {pending.count > 0 && (
          <p className="border-t border-line px-4 py-2 text-sm text-muted">
            {hasEnded ? t('slurmRun.notReached') : t('slurmRun.pending')}{' '}
            <span className="font-mono text-xs break-all">{pending.hostlist}</span>
          </p>
        )}
      </Panel>
    </div>
  )
}

function BatchLine({ batch: { number, phase, phaseSince, finishedAt, hosts, run, error } }: { batch: Batch }) {
  return (
    <li className="flex flex-col gap-1 border-b border-line px-4 py-2 text-sm last:border-0">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="tabular-nums">{t('slurmRun.number', { number: String(number) })}</span>
        <State tone={tones[phase]} busy={finishedAt === null}>
          {t(`slurmRunPhase.${phase}`)}
        </State>
        <span className="font-mono text-xs break-all">{hosts.hostlist}</span>
        {finishedAt === null && (
          <span className="text-muted">
            <Elapsed from={phaseSince} to={null} />
          </span>
        )}
        {run && (
          <Link href={runHref(run.id)} className="ml-auto flex items-center gap-2 hover:underline">
            {t('runs.number', { number: String(run.number) })} <RunStatus status={run.status} />
          </Link>
        )}
      </div>
      {error && <p className="text-xs break-words text-bad">{error}</p>}
    </li>
  )
}
