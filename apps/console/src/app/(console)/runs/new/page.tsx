'use client'
import { Eye, Play } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useMemo, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { issueFor, issuesElsewhere, issuesWithin, pathOf, useVerb } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { nodesOf } from '@/nodes/remembered.ts'
import { type StartInput, StartRun, type Template, TemplatesQuery } from '@/runs/documents.ts'
import { fieldsOf, shownFields, type Typed, varsFrom } from '@/runs/input-schema.ts'
import { newAttempt } from '@/runs/new-attempt.ts'
import { MoreOptions, noOptions, optionNames, optionsInput } from '@/runs/options.tsx'
import { parseVars } from '@/runs/parse-vars.ts'
import { Preview } from '@/runs/preview.tsx'
import { runHref } from '@/runs/run-line.tsx'
import { SchemaForm } from '@/runs/schema-form.tsx'
import { Target } from '@/runs/target.tsx'
import { TemplateChoice } from '@/runs/template-choice.tsx'
import { usePreview } from '@/runs/use-preview.ts'
import { useViewer } from '@/session/viewer.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { CheckField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { PageHead, Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { useQueryState } from '@/ui/use-query-state.ts'
import { useTitle } from '@/ui/use-title.ts'

function RunForm({ templates }: { templates: Template[] }) {
  const router = useRouter()
  const query = useQueryState()
  const viewer = useViewer()
  const verb = useVerb(StartRun)
  const [name, setName] = useState(query.get('template') || templates[0]?.name || '')
  const template = templates.find((each) => each.name === name)
  const nodes = query.get('nodes')
  const ids = useMemo(() => nodesOf(nodes), [nodes])
  const [limit, setLimit] = useState(query.get('limit'))
  const [typed, setTyped] = useState<Typed>({})
  const [vars, setVars] = useState('')
  const [options, setOptions] = useState(noOptions)
  const [checkMode, setCheckMode] = useState(false)
  const [become, setBecome] = useState<boolean | null>(null)
  const [reason, setReason] = useState('')
  const attempt = useRef(newAttempt())

  const fields = useMemo(() => fieldsOf(template?.inputSchema, template?.defaultVars), [template])
  const parsed = useMemo(() => parseVars(vars, t('runs.varsNotObject')), [vars])
  const fromForm = varsFrom(fields, typed)
  const twice = Object.keys(parsed.vars ?? {}).find((each) => each in fromForm)
  const varsError = parsed.error ?? (twice && t('runs.varsTwice', { name: twice }))
  const missing = shownFields(fields, typed).find(
    (field) => field.isRequired && !typed[field.name] && !(field.name in (parsed.vars ?? {})),
  )
  const extraVars = { ...parsed.vars, ...fromForm }
  const input: StartInput = {
    template: name,
    ...(ids.length > 0 ? { nodeIds: ids } : { limit: limit.trim() }),
    ...(Object.keys(extraVars).length > 0 && { extraVars }),
    ...(become !== null && { become }),
    ...optionsInput(options),
    checkMode,
    ...(reason && { reason }),
  }
  const preview = usePreview(input)

  const isViewer = viewer.role === 'VIEWER'
  const blocked = isViewer
    ? t('role.viewerBlocked')
    : !template
      ? t('runs.needTemplate')
      : ids.length === 0 && !limit.trim()
        ? t('runs.needTarget')
        : missing
          ? t('runs.needInput', { name: missing.label })
          : varsError
            ? t('runs.needVars')
            : null
  async function start() {
    const outcome = await verb.run({ input: { ...input, idempotencyKey: attempt.current } })
    if (outcome.ok) router.push(runHref(outcome.value.id))
    else attempt.current = newAttempt()
  }
  function choose(next: string) {
    setName(next)
    setTyped({})
  }
  const problem = preview.problem ?? verb.problem
  const rest = issuesElsewhere(problem, ['limit', 'nodeIds', 'extraVars', ...optionNames])
  // What is refused of a variable stands at its field, the others' at the text.
  const drawn = new Set(shownFields(fields, typed).map((field) => `extraVars.${field.name}`))
  const elsewhere = problem && { ...problem, issues: problem.issues.filter((issue) => !drawn.has(pathOf(issue))) }
  return (
    <form
      className="flex max-w-3xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!blocked && !verb.busy) void start()
      }}
    >
      <Panel title={t('runs.stepTemplate')}>
        <TemplateChoice templates={templates} value={name} onChange={choose} />
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
            typed={typed}
            onChange={setTyped}
            errorOf={(field) => issuesWithin(problem, `extraVars.${field}`)}
          />
        </Panel>
      )}
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
            placeholder={t('runs.extraVarsExample')}
            error={varsError || issuesWithin(elsewhere, 'extraVars')}
            hint={t('runs.extraVarsHint')}
          />
          <CheckField
            label={t('runs.checkMode')}
            hint={t('runs.checkModeHint')}
            checked={checkMode}
            onChange={(event) => setCheckMode(event.target.checked)}
          />
          <CheckField
            label={t('runs.becomeRoot')}
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
      {problem && (rest.length > 0 || problem.issues.length === 0) && (
        <Notice tone="bad">
          <p>{problem.message}</p>
          {rest.map((issue) => (
            <p key={issue.path + issue.message}>{issue.message}</p>
          ))}
        </Notice>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" type="submit" icon={<Play aria-hidden />} saysReason busy={verb.busy} blockedReason={blocked}>
          {t('runs.start')}
        </Button>
        <Button icon={<Eye aria-hidden />} busy={preview.isBusy} blockedReason={blocked} onClick={() => void preview.ask()}>
          {t('runs.preview')}
        </Button>
        <ButtonLink href="/runs" look="quiet">
          {t('common.cancel')}
        </ButtonLink>
      </div>
      {preview.preview && <Preview preview={preview.preview} />}
    </form>
  )
}

/** Choose a template and a target, set the options, start. */
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
        <RunForm templates={data.jobTemplates.edges.map((edge) => edge.node)} />
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
