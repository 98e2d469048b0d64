'use client'
import { Play } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useMemo, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { graphql } from '@/graphql/graphql.ts'
import { issueFor, issuesElsewhere, issuesWithin, useVerb } from '@/graphql/use-verb.ts'
import { formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { nodesOf } from '@/nodes/remembered.ts'
import { StartRun, type Template, TemplatesQuery } from '@/runs/documents.ts'
import { parseVars } from '@/runs/parse-vars.ts'
import { runHref } from '@/runs/run-line.tsx'
import { useViewer } from '@/session/viewer.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { cx } from '@/ui/cx.ts'
import { Failure } from '@/ui/failure.tsx'
import { CheckField, SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { PageHead, Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { useQueryState } from '@/ui/use-query-state.ts'
import { useTitle } from '@/ui/use-title.ts'

const NodeCount = graphql(`
  query NodeCount($filter: NodeFilter) { nodes(filter: $filter, first: 1) { totalCount } }
`)
const OneNode = graphql(`
  query OneNode($id: ID!) { node(id: $id) { __typename ... on ComputeNode { id name } } }
`)

function TemplateChoice({
  templates,
  value,
  onChange,
}: {
  templates: Template[]
  value: string
  onChange: (name: string) => void
}) {
  return (
    <fieldset className="grid gap-2 sm:grid-cols-2">
      <legend className="sr-only">{t('runs.template')}</legend>
      {templates.map((template) => (
        <label
          key={template.id}
          className={cx(
            'flex cursor-pointer gap-2.5 rounded-lg border p-3',
            template.name === value ? 'border-accent bg-accent-soft' : 'border-line-strong hover:bg-hover',
          )}
        >
          <input
            type="radio"
            name="template"
            className="mt-0.5 size-4 accent-accent"
            checked={template.name === value}
            onChange={() => onChange(template.name)}
          />
          <span className="min-w-0">
            <span className="flex flex-wrap items-center gap-1.5 text-sm font-medium">
              {template.displayName}
              {template.become && <Badge>{t('runs.become')}</Badge>}
            </span>
            <span className="mt-0.5 block text-xs text-muted">{template.description}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** What a run is aimed at: nodes chosen before, or a limit typed here. */
function Target({
  ids,
  limit,
  onLimit,
  onDropNodes,
  error,
}: {
  ids: string[]
  limit: string
  onLimit: (limit: string) => void
  onDropNodes: () => void
  error?: string
}) {
  const [{ data: all }] = useQuery({ query: NodeCount, variables: {} })
  const [{ data: one }] = useQuery({ query: OneNode, variables: { id: ids[0] ?? '' }, pause: ids.length !== 1 })
  if (ids.length > 0) {
    const only = one?.node?.__typename === 'ComputeNode' ? one.node.name : null
    return (
      <div className="flex flex-wrap items-center gap-3 text-sm">
        <span className={cx('font-medium', only && 'font-mono')}>{only ?? t('runs.chosenNodes', { count: ids.length })}</span>
        <Button look="quiet" onClick={onDropNodes}>
          {t('runs.useLimit')}
        </Button>
        {error && (
          <span role="alert" className="text-xs text-bad">
            {error}
          </span>
        )}
      </div>
    )
  }
  return (
    <TextField
      label={t('runs.limit')}
      mono
      value={limit}
      onChange={(event) => onLimit(event.target.value)}
      placeholder={t('runs.limitExample')}
      error={error}
      hint={limit.trim() === 'all' && all ? t('runs.limitAll', { count: all.nodes.totalCount }) : t('runs.limitHint')}
    />
  )
}

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
  const [vars, setVars] = useState('')
  const [forks, setForks] = useState('')
  const [timeout, setTimeout] = useState('')
  const [verbosity, setVerbosity] = useState('0')
  const [checkMode, setCheckMode] = useState(false)
  const [diffMode, setDiffMode] = useState(false)
  const [become, setBecome] = useState<boolean | null>(null)
  const [reason, setReason] = useState('')
  // The same form sent twice by an impatient double click is one run.
  const attempt = useRef(crypto.getRandomValues(new Uint32Array(4)).join('-'))
  const parsed = useMemo(() => parseVars(vars, t('runs.varsNotObject')), [vars])

  const isViewer = viewer.role === 'VIEWER'
  const blocked = isViewer
    ? t('role.viewerBlocked')
    : !template
      ? t('runs.needTemplate')
      : ids.length === 0 && !limit.trim()
        ? t('runs.needTarget')
        : parsed.error
          ? t('runs.needVars')
          : null
  async function start() {
    const outcome = await verb.run({
      input: {
        template: name,
        ...(ids.length > 0 ? { nodeIds: ids } : { limit: limit.trim() }),
        ...(parsed.vars && { extraVars: parsed.vars }),
        ...(become !== null && { become }),
        ...(forks && { forks: Number(forks) }),
        ...(timeout && { timeoutSeconds: Number(timeout) }),
        ...(Number(verbosity) > 0 && { verbosity: Number(verbosity) }),
        checkMode,
        diffMode,
        ...(reason && { reason }),
        idempotencyKey: attempt.current,
      },
    })
    if (outcome.ok) router.push(runHref(outcome.value.id))
    else attempt.current = crypto.getRandomValues(new Uint32Array(4)).join('-')
  }
  const rest = issuesElsewhere(verb.problem, ['limit', 'nodeIds', 'extraVars', 'forks', 'timeoutSeconds'])
  return (
    <form
      className="flex max-w-3xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!blocked && !verb.busy) void start()
      }}
    >
      <Panel title={t('runs.stepTemplate')}>
        <TemplateChoice templates={templates} value={name} onChange={setName} />
      </Panel>
      <Panel title={t('runs.stepTarget')}>
        <Target
          ids={ids}
          limit={limit}
          onLimit={setLimit}
          onDropNodes={() => query.set({ nodes: null })}
          error={issueFor(verb.problem, 'limit') ?? issueFor(verb.problem, 'nodeIds')}
        />
      </Panel>
      <Panel title={t('runs.stepOptions')}>
        <div className="grid gap-4 sm:grid-cols-3">
          <TextAreaField
            className="sm:col-span-3"
            label={t('runs.extraVars')}
            mono
            rows={4}
            optional
            value={vars}
            onChange={(event) => setVars(event.target.value)}
            placeholder={t('runs.extraVarsExample')}
            error={parsed.error ?? issuesWithin(verb.problem, 'extraVars')}
            hint={t('runs.extraVarsHint')}
          />
          <TextField
            label={t('runs.forks')}
            type="number"
            min={1}
            max={500}
            value={forks}
            onChange={(event) => setForks(event.target.value)}
            placeholder={String(template?.forks ?? '')}
            error={issueFor(verb.problem, 'forks')}
            hint={t('runs.forksHint')}
          />
          <TextField
            label={t('runs.timeout')}
            type="number"
            min={1}
            value={timeout}
            onChange={(event) => setTimeout(event.target.value)}
            placeholder={String(template?.timeoutSeconds ?? '')}
            error={issueFor(verb.problem, 'timeoutSeconds')}
            hint={t('runs.timeoutHint', { time: formatDuration((Number(timeout) || template?.timeoutSeconds || 0) * 1000) })}
          />
          <SelectField label={t('runs.verbosity')} value={verbosity} onChange={(event) => setVerbosity(event.target.value)}>
            {[0, 1, 2, 3, 4].map((level) => (
              <option key={level} value={level}>
                {level === 0 ? t('runs.verbosityNormal') : `-${'v'.repeat(level)}`}
              </option>
            ))}
          </SelectField>
          <CheckField
            label={t('runs.checkMode')}
            hint={t('runs.checkModeHint')}
            checked={checkMode}
            onChange={(event) => setCheckMode(event.target.checked)}
          />
          <CheckField
            label={t('runs.diffMode')}
            hint={t('runs.diffModeHint')}
            checked={diffMode}
            onChange={(event) => setDiffMode(event.target.checked)}
          />
          <CheckField
            label={t('runs.becomeRoot')}
            hint={t('runs.becomeHint')}
            checked={become ?? template?.become ?? false}
            onChange={(event) => setBecome(event.target.checked)}
          />
          <TextField
            className="sm:col-span-3"
            label={t('runs.reason')}
            optional
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            hint={t('runs.reasonHint')}
          />
        </div>
      </Panel>
      {verb.problem && (rest.length > 0 || verb.problem.issues.length === 0) && (
        <Notice tone="bad">
          <p>{verb.problem.message}</p>
          {rest.map((issue) => (
            <p key={issue.path + issue.message}>{issue.message}</p>
          ))}
        </Notice>
      )}
      <div className="flex items-center gap-2">
        <Button look="primary" type="submit" icon={<Play aria-hidden />} saysReason busy={verb.busy} blockedReason={blocked}>
          {t('runs.start')}
        </Button>
        <ButtonLink href="/runs" look="quiet">
          {t('common.cancel')}
        </ButtonLink>
      </div>
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
