import { formatBytes, formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { optional, submissionRows, time, timeLimitRow, tresRows } from '../job-rows.ts'
import type { JobRecord } from './documents.ts'
import { exitText, RecordState } from './job-state.tsx'

/** What the accounting recorded about a job: how it ended, what it used, and its steps. */
export function JobRecordView({ job }: { job: JobRecord }) {
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title={t('slurmJob.state')}>
          <PropertyList
            rows={[
              ...optional(t('slurmJob.name'), job.name),
              [t('slurmJob.state'), <RecordState key="s" {...job} />],
              [t('slurmJob.exit'), exitText(job)],
              ...optional(t('slurmJob.reason'), job.reason),
              ...time(t('slurmJob.submitted'), job.submittedAt),
              ...time(t('slurmJob.started'), job.startAt),
              ...time(t('slurmJob.ended'), job.endAt),
              [t('slurmHistory.elapsed'), formatDuration(job.elapsedSeconds * 1000)],
              timeLimitRow(job),
            ]}
          />
        </Panel>
        <Panel title={t('slurmHistory.use')}>
          <div className="flex flex-col gap-4">
            <UsageBar
              label={t('slurmHistory.cpuTime')}
              part={job.cpuEfficiency}
              text={
                job.cpuSeconds === null
                  ? null
                  : t('slurmHistory.cpuUse', {
                      used: formatDuration(job.cpuSeconds * 1000),
                      total: formatDuration(job.cpus * job.elapsedSeconds * 1000),
                    })
              }
            />
            <UsageBar
              label={t('slurmHistory.memory')}
              part={job.memoryBytes !== null && job.memoryLimitBytes ? job.memoryBytes / job.memoryLimitBytes : null}
              text={
                job.memoryBytes === null
                  ? null
                  : job.memoryLimitBytes === null
                    ? formatBytes(job.memoryBytes)
                    : t('slurmHistory.memoryUse', {
                        used: formatBytes(job.memoryBytes),
                        total: formatBytes(job.memoryLimitBytes),
                      })
              }
            />
            <PropertyList rows={[...optional(t('slurmJob.nodes'), job.nodeList), ...tresRows(job), ...submissionRows(job)]} />
          </div>
        </Panel>
      </div>
      {job.steps.length > 0 && (
        <Panel title={t('slurmHistory.steps')} flush>
          <Steps steps={job.steps} />
        </Panel>
      )}
    </div>
  )
}

/** A used part as a bar. */
function UsageBar({ label, part, text }: { label: string; part: number | null; text: string | null }) {
  const percent = part === null ? null : Math.round(part * 100)
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap items-baseline justify-between gap-2 text-sm">
        <span className="text-muted">{label}</span>
        <span className="tabular-nums">
          {text ?? t('slurmHistory.notMeasured')}
          {percent !== null && ` · ${t('unit.percent', { value: percent })}`}
        </span>
      </div>
      {percent !== null && (
        <progress
          className="h-1.5 w-full appearance-none overflow-hidden rounded-full bg-sunken [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-text/10 [&::-webkit-progress-value]:bg-accent"
          aria-label={label}
          max={100}
          value={Math.min(100, percent)}
        />
      )}
    </div>
  )
}

function Steps({ steps }: { steps: JobRecord['steps'] }) {
  const amount = (value: number | null, format: (value: number) => string) =>
    value === null ? <span className="text-faint">{t('common.none')}</span> : format(value)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways on a phone
    <section className="overflow-x-auto" aria-label={t('slurmHistory.steps')} tabIndex={0}>
      <table className="w-full min-w-160 text-left text-sm">
        <thead className="text-xs text-muted">
          <tr className="border-b border-line [&>th]:px-4 [&>th]:py-2 [&>th]:font-medium">
            <th>{t('slurmHistory.step')}</th>
            <th>{t('slurmJob.state')}</th>
            <th>{t('slurmJob.exit')}</th>
            <th>{t('slurmJob.nodes')}</th>
            <th>{t('slurmHistory.elapsed')}</th>
            <th>{t('slurmHistory.cpuTime')}</th>
            <th>{t('slurmHistory.memory')}</th>
            <th>{t('slurmHistory.largestTask')}</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step.stepId} className="border-b border-line last:border-0 [&>td]:px-4 [&>td]:py-2">
              <td>
                <span className="font-mono">{step.stepId}</span>
                {step.name !== step.stepId && <span className="ml-2 text-muted">{step.name}</span>}
              </td>
              <td>
                <RecordState state={step.state} />
              </td>
              <td>{exitText(step)}</td>
              <td className="font-mono text-xs">{step.nodeList}</td>
              <td>{formatDuration(step.elapsedSeconds * 1000)}</td>
              <td>{amount(step.cpuSeconds, (seconds) => formatDuration(seconds * 1000))}</td>
              <td>{amount(step.memoryBytes, formatBytes)}</td>
              <td>
                {amount(step.maxTaskMemoryBytes, formatBytes)}
                {step.maxTaskMemoryNode && <span className="ml-2 font-mono text-xs text-muted">{step.maxTaskMemoryNode}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
