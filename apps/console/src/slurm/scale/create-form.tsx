'use client'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import type { VariablesOf } from '@/graphql/graphql.ts'
import { issueFor, issuesWithin, noticeOf, useMutation } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { useFindNode } from '@/slurm/nodes/find-node.ts'
import { Button } from '@/ui/button.tsx'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { useInvalidFocus } from '@/ui/hooks/use-invalid-focus.ts'
import { Notice } from '@/ui/notice.tsx'
import { CreateCluster } from './documents.ts'
import { ReadinessFindings, ReadinessState } from './readiness-findings.tsx'
import { SaltFields, saltInput } from './salt-fields.tsx'
import { shardsOf } from './scale-out-dialog.tsx'
import { useFindNodes } from './use-find-nodes.ts'
import { useReadiness } from './use-readiness.ts'

const EMPTY = {
  name: '',
  region: '',
  controllerNodeId: '',
  backupNodeId: '',
  computeNodeIds: '',
  loginNodeIds: '',
  partition: 'batch',
  maxNodes: '',
  stateFolder: '',
  accounting: 'NONE',
  accountingHost: '',
  accountingNodeId: '',
  prefix: '',
  repositoryUrl: '',
  repositoryKey: '',
  shardsPerGpu: '',
  extraLines: '',
  saltCredentialId: '',
  saltEauth: '',
  saltCaCertificate: '',
  saltInstalls: false,
  reason: '',
}
type Form = typeof EMPTY
type TextKey = Exclude<keyof Form, 'saltInstalls'>
type Accounting = NonNullable<VariablesOf<typeof CreateCluster>['input']['accounting']>
const ACCOUNTING = ['NONE', 'EXISTING', 'MANAGED'] as const satisfies readonly Accounting['kind'][]
/** Input paths of the errors of form fields, where they differ from the field name. */
const PATHS: Partial<Record<keyof Form, string>> = { accountingHost: 'accounting.host', accountingNodeId: 'accounting.nodeId' }
type Problems = Partial<Record<keyof Form, string>>
const REQUIRED = ['name', 'controllerNodeId', 'computeNodeIds', 'reason'] as const

/** What a check of the nodes depends on. */
const checkedFields = (form: Form): string => {
  const { controllerNodeId, backupNodeId, computeNodeIds, loginNodeIds, accounting, accountingNodeId, prefix } = form
  const nodes = [controllerNodeId, backupNodeId, computeNodeIds, loginNodeIds, accounting === 'MANAGED' && accountingNodeId]
  return JSON.stringify([...nodes, prefix, saltInput(form)])
}

/** Creates a managed cluster, and opens its page with the progress. */
export function CreateForm() {
  const router = useRouter()
  const create = useMutation(CreateCluster)
  const findNode = useFindNode()
  const findNodes = useFindNodes()
  const readiness = useReadiness()
  const [form, setForm] = useState(EMPTY)
  /** The fields of the last check. */
  const [checked, setChecked] = useState<string | null>(null)
  const [problems, setProblems] = useState<Problems>({})
  const shown = create.problem ?? readiness.problem
  const notice = noticeOf(shown, [...Object.keys(EMPTY), ...Object.values(PATHS)])
  const fields = useInvalidFocus<HTMLFormElement>(problems, shown)
  const field = (key: TextKey) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
    error: problems[key] ?? issuesWithin(shown, PATHS[key] ?? key),
  })
  async function resolveNodes() {
    const found: Problems = {}
    const one = async (key: 'controllerNodeId' | 'backupNodeId' | 'accountingNodeId') => {
      const result = await findNode(form[key].trim())
      if ('problem' in result) found[key] = result.problem
      return 'id' in result ? result.id : ''
    }
    const many = async (key: 'computeNodeIds' | 'loginNodeIds') => {
      const result = await findNodes(form[key].trim())
      if ('problem' in result) found[key] = result.problem
      return 'ids' in result ? result.ids : []
    }
    const ids = {
      controllerNodeId: await one('controllerNodeId'),
      backupNodeId: form.backupNodeId.trim() ? await one('backupNodeId') : null,
      computeNodeIds: await many('computeNodeIds'),
      loginNodeIds: form.loginNodeIds.trim() ? await many('loginNodeIds') : [],
    }
    const accounting: Accounting =
      form.accounting === 'MANAGED'
        ? { kind: 'MANAGED', nodeId: await one('accountingNodeId') }
        : form.accounting === 'EXISTING'
          ? { kind: 'EXISTING', host: form.accountingHost.trim() }
          : { kind: 'NONE' }
    setProblems(found)
    return Object.keys(found).length > 0 ? null : { ...ids, accounting }
  }
  async function check() {
    const ids = await resolveNodes()
    if (!ids) return
    const { controllerNodeId, backupNodeId, computeNodeIds, loginNodeIds, accounting } = ids
    const all = [controllerNodeId, backupNodeId, ...computeNodeIds, ...loginNodeIds, accounting.nodeId]
    const nodeIds = [...new Set(all.filter((id) => id != null))]
    setChecked(checkedFields(form))
    await readiness.start({ nodeIds, prefix: form.prefix.trim() || null, ...saltInput(form) })
  }
  async function run() {
    const found = await resolveNodes()
    if (!found) return
    // Nodes that run jobs are left out when their check failed; the others are needed.
    const isFailed = (id: string) => readiness.nodes.get(id)?.isReady === false
    const ids = { ...found, computeNodeIds: found.computeNodeIds.filter((id) => !isFailed(id)) }
    const outcome = await create.run({
      input: {
        ...ids,
        name: form.name.trim(),
        region: form.region.trim() || null,
        partition: form.partition.trim() || null,
        maxNodes: form.maxNodes ? Number(form.maxNodes) : null,
        stateFolder: form.stateFolder.trim() || null,
        prefix: form.prefix.trim() || null,
        repositoryUrl: form.repositoryUrl.trim() || null,
        repositoryKey: form.repositoryUrl.trim() ? form.repositoryKey.trim() || null : null,
        shardsPerGpu: shardsOf(form.shardsPerGpu),
        extraLines: form.extraLines.split('\n').filter((line) => line.trim()),
        ...saltInput(form),
        reason: form.reason.trim(),
      },
    })
    if (outcome.ok) router.push(`/slurm/clusters/${encodeURIComponent(outcome.value.slurmOperation.cluster.id)}?tab=operations`)
  }
  const isOutdated = checked !== null && checked !== checkedFields(form)
  const isComplete = REQUIRED.every((key) => form[key].trim())
  const checkProblem = isOutdated ? t('slurmScale.needRecheck') : readiness.isFinished ? null : t('slurmScale.needCheck')
  const blockedReason = isComplete ? checkProblem : t('slurmScale.needFields')
  return (
    <form
      ref={fields}
      className="flex max-w-2xl flex-col gap-4 text-sm"
      onSubmit={(event) => {
        event.preventDefault()
        if (blockedReason === null) void run()
      }}
    >
      <p className="text-muted">{t('slurmScale.createText')}</p>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t('slurmConnect.name')} mono {...field('name')} />
        <TextField label={t('slurm.region')} optional {...field('region')} />
      </div>
      <TextField label={t('slurm.controllerNode')} hint={t('slurm.nodeHint')} mono {...field('controllerNodeId')} />
      <TextField label={t('slurmScale.compute')} hint={t('slurmScale.computeHint')} mono {...field('computeNodeIds')} />
      <TextField label={t('slurmScale.login')} hint={t('slurmScale.computeHint')} mono optional {...field('loginNodeIds')} />
      <TextField label={t('slurm.backupNode')} hint={t('slurm.nodeHint')} mono optional {...field('backupNodeId')} />
      <TextField
        label={t('slurmScale.stateFolder')}
        hint={t('slurmScale.stateFolderHint')}
        mono
        optional
        {...field('stateFolder')}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t('slurmScale.partition')} mono {...field('partition')} />
        <TextField label={t('slurm.maxNodes')} type="number" min={1} optional {...field('maxNodes')} />
      </div>
      <SelectField label={t('slurmScale.accounting')} {...field('accounting')}>
        {ACCOUNTING.map((kind) => (
          <option key={kind} value={kind}>
            {t(`slurmAccountingKind.${kind}`)}
          </option>
        ))}
      </SelectField>
      {form.accounting === 'EXISTING' && (
        <TextField
          label={t('slurmScale.accountingHost')}
          hint={t('slurmScale.accountingHostHint')}
          mono
          {...field('accountingHost')}
        />
      )}
      {form.accounting === 'MANAGED' && (
        <TextField
          label={t('slurmScale.accountingNode')}
          hint={t('slurmScale.accountingNodeHint')}
          mono
          {...field('accountingNodeId')}
        />
      )}
      <TextField label={t('slurmScale.prefix')} hint={t('slurmScale.prefixHint')} mono optional {...field('prefix')} />
      <TextField
        label={t('slurmScale.repository')}
        hint={t('slurmScale.repositoryHint')}
        mono
        optional
        {...field('repositoryUrl')}
      />
      {form.repositoryUrl.trim() && (
        <TextField
          label={t('slurmScale.repositoryKey')}
          hint={t('slurmScale.repositoryKeyHint')}
          mono
          optional
          {...field('repositoryKey')}
        />
      )}
      <TextField
        label={t('slurmScale.shards')}
        hint={t('slurmScale.shardsHint')}
        type="number"
        min={0}
        max={1000}
        optional
        {...field('shardsPerGpu')}
      />
      <TextAreaField
        label={t('slurmScale.lines')}
        hint={t('slurmScale.linesHint')}
        mono
        optional
        rows={4}
        {...field('extraLines')}
      />
      <SaltFields
        form={form}
        onChange={(change) => setForm((before) => ({ ...before, ...change }))}
        errorOf={(field) => issueFor(shown, field)}
      />
      <TextField label={t('slurmAction.reason')} maxLength={200} {...field('reason')} />
      {readiness.error && <Notice tone="bad">{readiness.error}</Notice>}
      {readiness.nodes.size > 0 && (
        <ul className="flex max-h-60 flex-col overflow-auto rounded-lg border border-line" aria-label={t('slurmScale.check')}>
          {[...readiness.nodes.values()].map((node) => (
            <li
              key={node.nodeId}
              className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line px-3 py-1.5 last:border-0"
            >
              <span className="font-mono text-xs font-medium">{node.name}</span>
              <span className="ml-auto">
                <ReadinessState node={node} />
              </span>
              <ReadinessFindings node={node} />
            </li>
          ))}
        </ul>
      )}
      {isOutdated && <Notice tone="warn">{t('slurmScale.needRecheck')}</Notice>}
      {notice && <Notice tone="bad">{notice}</Notice>}
      <p className="text-xs text-muted" aria-live="polite">
        {readiness.isRunning && readiness.nodes.size > 0
          ? t('slurmScale.checkProgress', { done: formatNumber(readiness.checkedCount), count: readiness.nodes.size })
          : t('slurmScale.createChecks')}
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button
          busy={readiness.isRunning}
          blockedReason={isComplete ? null : t('slurmScale.needFields')}
          onClick={() => void check()}
        >
          {t('slurmScale.check')}
        </Button>
        <Button type="submit" variant="primary" busy={create.busy} showReason blockedReason={blockedReason}>
          {t('slurmScale.createStart')}
        </Button>
      </div>
    </form>
  )
}
