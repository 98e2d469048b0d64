import { issueFor, type Problem } from '@/graphql/use-mutation.ts'
import { formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { CheckField, SelectField, TextField } from '@/ui/field.tsx'
import type { Template } from './documents.ts'

/** Less common run options as form values; '' uses the template's value. */
export const noOptions = {
  forks: '',
  timeoutSeconds: '',
  serial: '',
  maxFailPercentage: '',
  jobTags: '',
  skipTags: '',
  verbosity: '',
  diffMode: false,
  includeOffline: false,
}
export type Options = typeof noOptions
export const optionNames = Object.keys(noOptions) as (keyof Options)[]

const splitWords = (text: string) => [...new Set(text.split(/[\s,]+/).filter(Boolean))]

/** The options as API input, without unset ones. */
export function optionsInput({ diffMode, includeOffline, serial, jobTags, skipTags, ...numbers }: Options) {
  return {
    ...Object.fromEntries(Object.entries(numbers).flatMap(([name, text]) => (text ? [[name, Number(text)]] : []))),
    ...(serial.trim() && { serial: serial.trim() }),
    ...(jobTags.trim() && { jobTags: splitWords(jobTags) }),
    ...(skipTags.trim() && { skipTags: splitWords(skipTags) }),
    diffMode,
    includeOffline,
  }
}

/** A collapsed section of less common options; opens when one of them is invalid. */
export function MoreOptions({
  options,
  onChange,
  template,
  problem,
}: {
  options: Options
  onChange: (options: Options) => void
  template: Template | undefined
  problem: Problem | null
}) {
  const field = (name: Exclude<keyof Options, 'diffMode' | 'includeOffline'>) => ({
    value: options[name],
    error: issueFor(problem, name),
    onChange: (event: { target: { value: string } }) => onChange({ ...options, [name]: event.target.value }),
  })
  const isRejected = optionNames.some((name) => issueFor(problem, name))
  return (
    <details open={isRejected || undefined} className="rounded-md border border-line">
      <summary className="cursor-pointer rounded-md px-3 py-2 text-sm font-medium hover:bg-hover">
        {t('runs.moreOptions')}
      </summary>
      <div className="grid gap-4 border-t border-line p-3 sm:grid-cols-2">
        <TextField
          label={t('runs.forks')}
          type="number"
          min={1}
          max={500}
          {...field('forks')}
          placeholder={String(template?.forks ?? '')}
          hint={t('runs.forksHint')}
        />
        <TextField
          label={t('runs.timeoutSeconds')}
          type="number"
          min={1}
          {...field('timeoutSeconds')}
          placeholder={String(template?.timeoutSeconds ?? '')}
          hint={t('runs.timeoutHint', {
            time: formatDuration((Number(options.timeoutSeconds) || template?.timeoutSeconds || 0) * 1000),
          })}
        />
        <TextField
          label={t('runs.serial')}
          mono
          {...field('serial')}
          placeholder={template?.serial ?? t('runs.serialExample')}
          hint={t('runs.serialHint')}
        />
        <TextField
          label={t('runs.maxFail')}
          type="number"
          min={0}
          max={100}
          {...field('maxFailPercentage')}
          placeholder={String(template?.maxFailPercentage ?? '')}
          hint={t('runs.maxFailHint')}
        />
        <TextField
          label={t('runs.jobTags')}
          mono
          {...field('jobTags')}
          placeholder={template?.jobTags.join(', ')}
          hint={t('runs.jobTagsHint')}
        />
        <TextField
          label={t('runs.skipTags')}
          mono
          {...field('skipTags')}
          placeholder={template?.skipTags.join(', ')}
          hint={t('node.tagsHint')}
        />
        <SelectField label={t('runs.verbosity')} {...field('verbosity')}>
          {['', '1', '2', '3', '4'].map((level) => (
            <option key={level} value={level}>
              {level ? `-${'v'.repeat(Number(level))}` : t('runs.verbosityNormal')}
            </option>
          ))}
        </SelectField>
        <CheckField
          label={t('runs.diffMode')}
          hint={t('runs.diffModeHint')}
          checked={options.diffMode}
          onChange={(event) => onChange({ ...options, diffMode: event.target.checked })}
        />
        <CheckField
          label={t('runs.includeOffline')}
          hint={t('runs.includeOfflineHint')}
          checked={options.includeOffline}
          onChange={(event) => onChange({ ...options, includeOffline: event.target.checked })}
        />
      </div>
    </details>
  )
}
