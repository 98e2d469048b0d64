'use client'
import { CircleStop, RotateCcw } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { QueueNotice } from '@/run-queue/queue-notice.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { Elapsed, RelativeTime } from '@/ui/relative-time.tsx'
import { toast } from '@/ui/toast.tsx'
import { HostBar, isUnfinished, RunStatus } from './badges.tsx'
import { CancelRun, type RunHead as Run, StartRun } from './documents.ts'
import { Retry } from './retry.tsx'
import { runHref } from './run-line.tsx'

function Actions({ run }: { run: Run }) {
  const router = useRouter()
  const blockedReason = useBlockedReason('job_run:start')
  const cancel = useMutation(CancelRun)
  const start = useMutation(StartRun)
  const [isAsking, setAsking] = useState(false)
  async function rerun() {
    const { templateName: template, extraVars, become, forks, timeoutSeconds, checkMode, diffMode, verbosity } = run
    const { serial, maxFailPercentage, jobTags, skipTags } = run
    // A run on selected nodes has no limit; its hostlists are equivalent.
    const limit = run.limit ?? run.hostSummary.map((each) => each.hostlist).join(',')
    // The API returns no secrets, so the user must enter them again.
    if (run.hasSecretVars) return router.push(`/runs/new?${new URLSearchParams({ template, limit })}`)
    const outcome = await start.run({
      input: {
        ...{ template, limit, extraVars, become, forks, timeoutSeconds, checkMode, diffMode, verbosity },
        ...{ serial, maxFailPercentage, jobTags, skipTags },
        ...(run.slurm ? { slurm: slurmOf(run.slurm) } : {}),
      },
    })
    if (outcome.ok) router.push(runHref(outcome.value.run.id))
    else toast('bad', outcome.problem.message)
  }
  const canCancel = isUnfinished(run.status)
  return (
    <>
      {!canCancel && <Retry run={run} />}
      {!canCancel && (
        <Button icon={<RotateCcw aria-hidden />} busy={start.busy} blockedReason={blockedReason} onClick={() => void rerun()}>
          {t('run.again')}
        </Button>
      )}
      {canCancel && (
        <Button
          variant="danger"
          icon={<CircleStop aria-hidden />}
          blockedReason={run.cancelBlockedReason}
          busy={cancel.busy}
          onClick={() => setAsking(true)}
        >
          {run.status === 'CANCELING' ? t('run.canceling') : t('run.cancel')}
        </Button>
      )}
      {isAsking && canCancel && (
        <Confirm
          title={t('run.cancelTitle')}
          action={t('run.cancel')}
          onClose={() => setAsking(false)}
          onConfirm={() => cancel.run({ id: run.id })}
        >
          <p>{t('run.cancelText')}</p>
        </Confirm>
      )}
    </>
  )
}

const slurmOf = (slurm: NonNullable<Run['slurm']>) => {
  const { batchSize, deadlineSeconds, floorPercent, healthSeconds, includeReserved, maintenanceOnly } = slurm
  return { batchSize, deadlineSeconds, floorPercent, healthSeconds, includeReserved, maintenanceOnly }
}

/** Links to the retried run, to retries of this run, and to the run that started it for a batch. */
function Lineage({ run }: { run: Run }) {
  const { parent, batchOf } = run
  if (!parent && !batchOf && run.retries.length === 0) return null
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-1.5 text-sm text-muted">
      {batchOf && (
        <span>
          {t.rich('slurmRun.batchOf', {
            number: String(batchOf.number),
            run: (text) => (
              <Link href={runHref(batchOf.id)} className="text-accent underline underline-offset-2">
                {text}
              </Link>
            ),
          })}
        </span>
      )}
      {parent && (
        <span>
          {t.rich('run.retryOf', {
            number: run.attempt,
            when: formatDateTime(parent.createdAt),
            run: (text) => (
              <Link href={runHref(parent.id)} className="text-accent underline underline-offset-2">
                {text}
              </Link>
            ),
          })}
        </span>
      )}
      {run.retries.length > 0 && (
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          {t('run.retries')}
          {run.retries.map(({ id, status }) => (
            <Link key={id} href={runHref(id)} className="text-text hover:underline">
              <RunStatus status={status} />
            </Link>
          ))}
        </span>
      )}
    </div>
  )
}

/** Header of a run's page: status, hosts, duration, actions. */
export function RunHeader({ run }: { run: Run }) {
  return (
    <PageHead
      above={
        <Link href="/runs" className="hover:underline">
          {t('nav.runs')}
        </Link>
      }
      title={run.template.displayName}
      below={
        <div className="flex flex-col gap-3 pt-1">
          <div className="flex flex-wrap items-center gap-x-5 gap-y-1.5 text-sm text-muted">
            <span aria-live="polite" data-testid="run-status" className="text-text">
              <RunStatus status={run.status} reason={run.statusReason} />
            </span>
            <span className="tabular-nums">{t('runs.number', { number: String(run.number) })}</span>
            <HostBar run={run} />
            {run.startedAt && <Elapsed from={run.startedAt} to={run.finishedAt} />}
            <span>{t.rich('run.startedBy', { name: run.createdBy.name, time: () => <RelativeTime at={run.createdAt} /> })}</span>
            {run.limit && (
              <span className="max-w-64 truncate font-mono text-xs" title={run.limit}>
                {run.limit}
              </span>
            )}
            {run.checkMode && <Badge tone="accent">{t('runs.check')}</Badge>}
            {run.reason && (
              <span className="max-w-80 truncate" title={run.reason}>
                {run.reason}
              </span>
            )}
          </div>
          <Lineage run={run} />
          {run.status === 'PENDING' && <QueueNotice id={run.id} />}
          {run.status === 'CANCELING' && (
            <Notice tone="warn">
              {run.cancelRequestedBy ? t('run.cancelingBy', { name: run.cancelRequestedBy.name }) : t('run.cancelingText')}
            </Notice>
          )}
          {run.statusReason && !isUnfinished(run.status) && run.status !== 'SUCCEEDED' && (
            <Notice tone={run.status === 'CANCELED' ? 'info' : run.status === 'PARTIAL' ? 'warn' : 'bad'}>
              {run.statusReason}
            </Notice>
          )}
          {run.hostCounts.offline > 0 && (
            <Notice tone="warn" title={t('run.offlineTitle', { count: run.hostCounts.offline })}>
              <p className="font-mono text-xs break-all">
                {run.hostSummary.find(({ result }) => result === 'OFFLINE')?.hostlist}
              </p>
              <p className="mt-1">{t('run.offlineText')}</p>
            </Notice>
          )}
          {run.interruptedHosts.count > 0 && (
            <Notice tone="warn" title={t('run.interruptedTitle', { count: run.interruptedHosts.count })}>
              <p className="font-mono text-xs break-all">{run.interruptedHosts.hostlist}</p>
              <p className="mt-1">{t('run.interruptedText')}</p>
            </Notice>
          )}
        </div>
      }
    >
      <Actions run={run} />
    </PageHead>
  )
}
