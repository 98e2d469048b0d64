'use client'
import { type ReactNode, useId } from 'react'
import { useQuery } from 'urql'
import { issueFor, issuesWithin, otherIssues, type Problem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { TemplatesQuery } from '@/runs/documents.ts'
import { parseVars } from '@/runs/parse-vars.ts'
import { Button } from '@/ui/button.tsx'
import { CheckField, SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { BlackoutFields } from './blackout-fields.tsx'
import { type ScheduleForm as Form, timingOf } from './form-values.ts'
import { PreviewPanel } from './preview-panel.tsx'

const SHOWN = ['name', 'limit', 'template', 'rule', 'timeZone', 'jitterSeconds', 'startsAt', 'endsAt', 'blackouts', 'settings']
const EXAMPLES = [
  { label: 'schedule.hourly', rule: '0 * * * *' },
  { label: 'schedule.daily', rule: '0 3 * * *' },
  { label: 'schedule.weekly', rule: '0 3 * * SUN' },
  { label: 'schedule.monthly', rule: 'FREQ=MONTHLY;BYDAY=1MO;BYHOUR=3;BYMINUTE=0' },
] as const

type Props = {
  form: Form
  onChange: (change: Partial<Form>) => void
  problem: Problem | null
  busy: boolean
  blockedReason: string | null
  /** The target cannot be changed. */
  isExisting: boolean
  /** Settings that this form cannot show stay as they are. */
  keepsSettings: boolean
  onSave: () => void
  cancel: ReactNode
}

/** The fields of a schedule, with its next times. */
export function ScheduleForm(props: Props) {
  const { form, onChange, problem, isExisting, keepsSettings } = props
  const zones = useId()
  const [{ data }] = useQuery({ query: TemplatesQuery })
  const varsError = parseVars(form.vars).error
  const isRun = form.target === 'RUN'
  const missing = !form.name.trim()
    ? t('schedule.needName')
    : isRun && !form.template
      ? t('runs.needTemplate')
      : !form.limit.trim()
        ? t('runs.needTarget')
        : !form.rule.trim()
          ? t('schedule.needRule')
          : isRun && varsError
            ? t('runs.needVars')
            : null
  const blocked = props.blockedReason ?? missing
  const others = otherIssues(problem, SHOWN)
  return (
    <form
      className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_320px]"
      onSubmit={(event) => {
        event.preventDefault()
        if (!blocked && !props.busy) props.onSave()
      }}
    >
      <div className="flex min-w-0 flex-col gap-4">
        <Panel title={t('schedule.what')}>
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label={t('schedule.name')}
              value={form.name}
              onChange={(event) => onChange({ name: event.target.value })}
              error={issueFor(problem, 'name')}
            />
            <SelectField
              label={t('schedule.target')}
              value={form.target}
              disabled={isExisting}
              onChange={(event) => onChange({ target: event.target.value as Form['target'] })}
            >
              <option value="RUN">{t('scheduleTarget.RUN')}</option>
              <option value="DISCOVERY">{t('scheduleTarget.DISCOVERY')}</option>
            </SelectField>
            {isRun && (
              <SelectField
                className="sm:col-span-2"
                label={t('runs.template')}
                value={form.template}
                onChange={(event) => onChange({ template: event.target.value })}
                error={issueFor(problem, 'template')}
              >
                <option value="">{t('schedule.choose')}</option>
                {data?.jobTemplates.edges.map(({ node }) => (
                  <option key={node.id} value={node.name}>
                    {node.displayName}
                  </option>
                ))}
              </SelectField>
            )}
            <TextField
              className="sm:col-span-2"
              mono
              label={t('runs.limit')}
              placeholder={t('runs.limitExample')}
              value={form.limit}
              onChange={(event) => onChange({ limit: event.target.value })}
              error={issueFor(problem, 'limit')}
              hint={t('schedule.limitHint')}
            />
            {isRun && keepsSettings && <p className="text-sm text-muted sm:col-span-2">{t('schedule.drains')}</p>}
            {isRun && !keepsSettings && (
              <>
                <TextAreaField
                  className="sm:col-span-2"
                  mono
                  optional
                  rows={3}
                  label={t('runs.extraVars')}
                  value={form.vars}
                  onChange={(event) => onChange({ vars: event.target.value })}
                  error={varsError ?? issuesWithin(problem, 'settings')}
                  hint={t('schedule.varsHint')}
                />
                <CheckField
                  label={t('runs.checkMode')}
                  hint={t('runs.checkModeHint')}
                  checked={form.checkMode}
                  onChange={(event) => onChange({ checkMode: event.target.checked })}
                />
              </>
            )}
            <TextField
              className="sm:col-span-2"
              optional
              label={t('schedule.description')}
              value={form.description}
              onChange={(event) => onChange({ description: event.target.value })}
            />
          </div>
        </Panel>
        <Panel title={t('schedule.when')}>
          <div className="grid gap-4 sm:grid-cols-2">
            <div className="flex flex-col gap-2 sm:col-span-2">
              <TextField
                mono
                label={t('schedule.rule')}
                value={form.rule}
                onChange={(event) => onChange({ rule: event.target.value })}
                error={issueFor(problem, 'rule')}
                hint={t('schedule.ruleHint')}
              />
              <div className="flex flex-wrap gap-2">
                {EXAMPLES.map(({ label, rule }) => (
                  <Button key={label} onClick={() => onChange({ rule })}>
                    {t(label)}
                  </Button>
                ))}
              </div>
            </div>
            <TextField
              label={t('schedule.timeZone')}
              list={zones}
              value={form.timeZone}
              onChange={(event) => onChange({ timeZone: event.target.value })}
              error={issueFor(problem, 'timeZone')}
            />
            <datalist id={zones}>
              {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
            <TextField
              type="number"
              min={0}
              label={t('schedule.jitter')}
              value={form.jitter}
              onChange={(event) => onChange({ jitter: event.target.value })}
              error={issueFor(problem, 'jitterSeconds')}
              hint={t('schedule.jitterHint')}
            />
            <SelectField
              label={t('schedule.catchUp')}
              value={form.catchUp}
              onChange={(event) => onChange({ catchUp: event.target.value as Form['catchUp'] })}
            >
              <option value="SKIP">{t('scheduleCatchUp.SKIP')}</option>
              <option value="RUN_ONCE">{t('scheduleCatchUp.RUN_ONCE')}</option>
            </SelectField>
            <SelectField
              label={t('schedule.overlap')}
              value={form.overlap}
              onChange={(event) => onChange({ overlap: event.target.value as Form['overlap'] })}
              error={issueFor(problem, 'overlap')}
            >
              <option value="SKIP">{t('scheduleOverlap.SKIP')}</option>
              <option value="ALLOW">{t('scheduleOverlap.ALLOW')}</option>
              {isRun && <option value="CANCEL_PREVIOUS">{t('scheduleOverlap.CANCEL_PREVIOUS')}</option>}
            </SelectField>
            <TextField
              type="datetime-local"
              optional
              label={t('schedule.startsAt')}
              value={form.startsAt}
              onChange={(event) => onChange({ startsAt: event.target.value })}
              error={issueFor(problem, 'startsAt')}
              hint={t('schedule.localTime')}
            />
            <TextField
              type="datetime-local"
              optional
              label={t('schedule.endsAt')}
              value={form.endsAt}
              onChange={(event) => onChange({ endsAt: event.target.value })}
              error={issueFor(problem, 'endsAt')}
              hint={t('schedule.localTime')}
            />
          </div>
        </Panel>
        <Panel title={t('schedule.blackouts')}>
          <div className="flex flex-col gap-3">
            <p className="text-sm text-muted">{t('schedule.blackoutsText')}</p>
            <BlackoutFields value={form.blackouts} onChange={(blackouts) => onChange({ blackouts })} problem={problem} />
          </div>
        </Panel>
        {problem && (problem.issues.length === 0 || others.length > 0) && (
          <Notice tone="bad">
            {problem.issues.length === 0 ? problem.message : others.map(({ message }) => <p key={message}>{message}</p>)}
          </Notice>
        )}
        <div className="flex flex-wrap items-center gap-2">
          <Button variant="primary" type="submit" showReason busy={props.busy} blockedReason={blocked}>
            {t('common.save')}
          </Button>
          {props.cancel}
        </div>
      </div>
      <div className="lg:sticky lg:top-4">
        <PreviewPanel timing={timingOf(form)} />
      </div>
    </form>
  )
}
