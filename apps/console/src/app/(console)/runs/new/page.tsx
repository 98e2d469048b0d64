'use client'
import { Eye, Play } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useMemo, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { issueFor, issuesWithin, otherIssues, relativePath, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { parseNodesParam } from '@/nodes/selection-store.ts'
import { type StartInput, StartRun, type Template, TemplatesQuery } from '@/runs/documents.ts'
import { newIdempotencyKey } from '@/runs/idempotency-key.ts'
import { MoreOptions, noOptions, optionNames, optionsInput } from '@/runs/options.tsx'
import { parseVars } from '@/runs/parse-vars.ts'
import { Preview } from '@/runs/preview.tsx'
import { runHref } from '@/runs/run-line.tsx'
import {
  noSlurmOptions,
  SlurmOptionsPanel,
  slurmOptionPaths,
  slurmOptionsInput,
  useIsSlurmTarget,
} from '@/runs/slurm-options.tsx'
import { Target } from '@/runs/target.tsx'
import { usePreview } from '@/runs/use-preview.ts'
import { type FormValues, parseFields, toVars, visibleFields } from '@/templates/input-schema.ts'
import { SchemaForm } from '@/templates/schema-form.tsx'
import { TemplatePicker } from '@/templates/template-picker.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { CheckField, TextAreaField, TextField } from '@/ui/field.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead, Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

const extraVarsExample = 'packages: [htop, numactl]\nreboot: false'

function RunForm({ templates }: { templates: Template[] }) {
  const router = useRouter()
  const query = useQueryState()
  const mutation = useMutation(StartRun)
  const [name, setName] = useState(query.get('template') || templates[0]?.name || '')
  const template = templates.find((each) => each.name === name)
  const nodes = query.get('nodes')
  const ids = useMemo(() => parseNodesParam(nodes), [nodes])
  const [limit, setLimit] = useState(query.get('limit'))
  const [values, setValues] = useState<FormValues>({})
  const [vars, setVars] = useState('')
  const [options, setOptions] = useState(noOptions)
  const [slurm, setSlurm] = useState(noSlurmOptions)
  const isSlurmTarget = useIsSlurmTarget(ids, limit)
  const [checkMode, setCheckMode] = useState(false)
  const [become, setBecome] = useState<boolean | null>(null)
  const [reason, setReason] = useState('')
  const attempt = useRef(newIdempotencyKey())

  const fields = useMemo(() => parseFields(template?.inputSchema, template?.defaultVars), [template])
  const parsed = useMemo(() => parseVars(vars), [vars])
  const formVars = toVars(fields, values)
  const duplicate = Object.keys(parsed.vars ?? {}).find((each) => each in formVars)
  const varsError = parsed.error ?? (duplicate && t('runs.varsTwice', { name: duplicate }))
  const missing = visibleFields(fields, values).find(
    (field) => field.isRequired && !values[field.name] && !(field.name in (parsed.vars ?? {})),
  )
  const extraVars = { ...parsed.vars, ...formVars }
  const input: StartInput = {
    template: name,
    ...(ids.length > 0 ? { nodeIds: ids } : { limit: limit.trim() }),
    ...(Object.keys(extraVars).length > 0 && { extraVars }),
    ...(become !== null && { become }),
    ...optionsInput(options),
    ...slurmOptionsInput(slurm),
    checkMode,
    ...(reason && { reason }),
  }
  const preview = usePreview(input)

  const inputBlocked = !template
    ? t('runs.needTemplate')
    : ids.length === 0 && !limit.trim()
      ? t('runs.needTarget')
      : missing
        ? t('runs.needInput', { name: missing.label })
        : varsError
          ? t('runs.needVars')
          : null
  const startBlocked = useBlockedReason('job_run:start')
  const blocked = startBlocked ?? inputBlocked
  async function start() {
    const outcome = await mutation.run({ input: { ...input, idempotencyKey: attempt.current } })
    if (outcome.ok) router.push(runHref(outcome.value.run.id))
    else attempt.current = newIdempotencyKey()
  }
  function choose(next: string) {
    setName(next)
    setValues({})
  }
  const problem = preview.problem ?? mutation.problem
  const scheduleLink = `/schedules/new?${new URLSearchParams({ template: name, limit: ids.length > 0 ? '' : limit.trim() })}`
  const otherProblems = otherIssues(problem, ['limit', 'nodeIds', 'extraVars', ...optionNames, ...slurmOptionPaths])
  // Errors of variables appear at their field, all others at the extra vars.
  const shownPaths = new Set(visibleFields(fields, values).map((field) => `extraVars.${field.name}`))
  const otherIssuesProblem = problem && {
    ...problem,
    issues: problem.issues.filter((issue) => !shownPaths.has(relativePath(issue))),
  }
  return (
    <form
      className="flex max-w-3xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!blocked && !mutation.busy) void start()
      }}
    >
      <Panel title={t('runs.stepTemplate')}>
        <TemplatePicker templates={templates} value={name} onChange={choose} />
      </Panel>
      <Panel title={t('runs.stepTarget')}>
        <Target
          ids={ids}
          limit={limit}
          onLimit={setLimit}
          onDropNodes={() => query.set({ nodes: null })}
          error={issueFor(problem, 'limit') ?? issueFor(problem, 'nodeIds')}
        />
      </Panel>
      {fields.length > 0 && (
        <Panel title={t('runs.stepInputs')}>
          <SchemaForm
            fields={fields}
            values={values}
            onChange={setValues}
            errorOf={(field) => issuesWithin(problem, `extraVars.${field}`)}
          />
        </Panel>
      )}
      {(slurm.isOn || isSlurmTarget) && <SlurmOptionsPanel options={slurm} onChange={setSlurm} problem={problem} />}
      <Panel title={t('runs.stepOptions')}>
        <div className="grid gap-4 sm:grid-cols-2">
          <TextAreaField
            className="sm:col-span-2"
            label={t('runs.extraVars')}
            mono
            rows={4}
            optional
            value={vars}
            onChange={(event) => setVars(event.target.value)}
            placeholder={extraVarsExample}
            error={varsError || issuesWithin(otherIssuesProblem, 'extraVars')}
            hint={t('runs.extraVarsHint')}
          />
          <CheckField
            label={t('runs.checkMode')}
            hint={t('runs.checkModeHint')}
            checked={checkMode}
            onChange={(event) => setCheckMode(event.target.checked)}
          />
          <CheckField
            label={t('runs.become')}
            hint={t('runs.becomeHint')}
            checked={become ?? template?.become ?? false}
            onChange={(event) => setBecome(event.target.checked)}
          />
          <TextField
            className="sm:col-span-2"
            label={t('runs.reason')}
            optional
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            hint={t('runs.reasonHint')}
          />
          <div className="sm:col-span-2">
            <MoreOptions options={options} onChange={setOptions} template={template} problem={problem} />
          </div>
        </div>
      </Panel>
      {problem && (otherProblems.length > 0 || problem.issues.length === 0) && (
        <Notice tone="bad">
          <p>{problem.message}</p>
          {otherProblems.map((issue) => (
            <p key={issue.path + issue.message}>{issue.message}</p>
          ))}
        </Notice>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button
          variant="primary"
          type="submit"
          icon={<Play aria-hidden />}
          showReason
          busy={mutation.busy}
          blockedReason={blocked}
        >
          {t('runs.start')}
        </Button>
        <Button icon={<Eye aria-hidden />} busy={preview.isBusy} blockedReason={blocked} onClick={() => void preview.load()}>
          {t('runs.preview')}
        </Button>
        <ButtonLink href={scheduleLink} variant="quiet">
          {t('runs.schedule')}
        </ButtonLink>
        <ButtonLink href="/runs" variant="quiet">
          {t('common.cancel')}
        </ButtonLink>
      </div>
      {preview.preview && <Preview preview={preview.preview} />}
    </form>
  )
}

/** The form that starts a run. */
export default function NewRunPage() {
  useTitle(t('runs.new'))
  const [{ data, error }, retry] = useQuery({ query: TemplatesQuery })
  return (
    <>
      <PageHead title={t('runs.new')} above={<Link href="/runs">{t('nav.runs')}</Link>} />
      {error && !data ? (
        <Failure
          title={t('runs.templatesFailed')}
          message={error.message}
          onRetry={() => retry({ requestPolicy: 'network-only' })}
        />
      ) : data ? (
        <RunForm templates={data.jobTemplates.edges.map(({ node }) => ({ ...node, ...node.settings }))} />
      ) : (
        <div className="flex max-w-3xl flex-col gap-4">
          <Skeleton className="h-36 w-full" />
          <Skeleton className="h-32 w-full" />
          <Skeleton className="h-72 w-full" />
        </div>
      )}
    </>
  )
}
