import { formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Notice } from '@/ui/notice.tsx'
import type { RunPreview } from './documents.ts'

const SHOWN = 20

const duration = (seconds: number | null): string => (seconds === null ? t('slurmRun.unknown') : formatDuration(seconds * 1000))

function HostReasons({ hosts }: { hosts: { host: string; reason: string }[] }) {
  return (
    <ul>
      {hosts.map(({ host, reason }) => (
        <li key={host}>
          <span className="font-mono text-xs">{host}</span> {reason}
        </li>
      ))}
    </ul>
  )
}

/** The batches of a previewed run, and what is in their way. */
export function SlurmPreview({ slurm }: { slurm: NonNullable<RunPreview['slurm']> }) {
  const { batches, partitions, outOfService, skipped, waiting, waitsFor } = slurm
  return (
    <>
      <p>
        {t('slurmRun.planned', { count: slurm.batchCount, cluster: slurm.clusterName, time: duration(slurm.estimatedSeconds) })}
      </p>
      {waitsFor && (
        <Notice tone="warn" title={t('slurmRun.cannotBegin')}>
          {t('slurmRun.waitsFor', { what: waitsFor })}
        </Notice>
      )}
      {skipped.length > 0 && (
        <Notice tone="warn" title={t('slurmRun.skipped', { count: skipped.length })}>
          <HostReasons hosts={skipped} />
        </Notice>
      )}
      {waiting.length > 0 && (
        <Notice tone="warn" title={t('slurmRun.waiting', { count: waiting.length })}>
          <HostReasons hosts={waiting} />
        </Notice>
      )}
      {outOfService.count > 0 && (
        <p className="text-muted">
          {t('slurmRun.outOfService')} <span className="font-mono text-xs break-all">{outOfService.hostlist}</span>
        </p>
      )}
      <ul className="text-muted">
        {partitions.map(({ name, nodes, inService, floor }) => (
          <li key={name}>{t('slurmRun.partition', { name, nodes, inService, floor })}</li>
        ))}
      </ul>
      {batches.length > 0 && (
        <div className="rounded-md border border-line">
          <table className="w-full text-left text-sm">
            <thead className="text-xs text-muted">
              <tr>
                <th className="px-3 py-1.5 font-medium">{t('slurmRun.batch')}</th>
                <th className="px-3 py-1.5 font-medium">{t('runs.hostsHead')}</th>
                <th className="px-3 py-1.5 font-medium">{t('slurmRun.jobs')}</th>
                <th className="px-3 py-1.5 font-medium">{t('slurmRun.wait')}</th>
              </tr>
            </thead>
            <tbody>
              {batches.slice(0, SHOWN).map(({ hosts, jobCount, waitSeconds }, i) => (
                <tr key={hosts.hostlist} className="border-t border-line">
                  <td className="px-3 py-1.5 tabular-nums">{i + 1}</td>
                  <td className="px-3 py-1.5 font-mono text-xs break-all">{hosts.hostlist}</td>
                  <td className="px-3 py-1.5 tabular-nums">{jobCount}</td>
                  <td className="px-3 py-1.5 whitespace-nowrap tabular-nums">{duration(waitSeconds)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {slurm.batchCount > SHOWN && (
            <p className="border-t border-line px-3 py-1.5 text-xs text-muted">
              {t('slurmRun.more', { count: slurm.batchCount - SHOWN })}
            </p>
          )}
        </div>
      )}
    </>
  )
}
