'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { issueFor, issuesWithin, otherIssues, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { CheckField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { useClusters } from '../use-clusters.ts'
import { CreateSnippet, RegionsQuery, type SnippetFilesInput, type SnippetRow, UpdateSnippet } from './documents.ts'

const INPUTS = { 'slurm.conf': 'slurmConf', 'gres.conf': 'gresConf', 'cgroup.conf': 'cgroupConf' } as const
type FileName = keyof typeof INPUTS
const NAMES = Object.keys(INPUTS) as FileName[]
const SHOWN = ['name', 'clusterIds', 'regions', 'reason']

type Props = { snippet: SnippetRow | null; onClose: () => void; onDone: (saved: SnippetRow, reason: string) => void }

/** Creates or edits a snippet: its lines, regions and clusters. */
export function SnippetDialog({ snippet, onClose, onDone }: Props) {
  const create = useMutation(CreateSnippet)
  const update = useMutation(UpdateSnippet)
  const { busy, problem } = snippet ? update : create
  const clusters = useClusters()
  const [name, setName] = useState(snippet?.name ?? '')
  const [reason, setReason] = useState('')
  const textOf = (file: FileName) => snippet?.files.find((one) => one.name === file)?.text ?? ''
  const [texts, setTexts] = useState<Record<FileName, string>>(() => ({
    'slurm.conf': textOf('slurm.conf'),
    'gres.conf': textOf('gres.conf'),
    'cgroup.conf': textOf('cgroup.conf'),
  }))
  const [chosen, setChosen] = useState(() => new Set(snippet?.chosenClusters.map(({ id }) => id)))
  const [regions, setRegions] = useState(() => new Set(snippet?.regions))
  const [{ data }] = useQuery({ query: RegionsQuery, requestPolicy: 'cache-and-network' })
  const clusterCounts = new Map(data?.slurmTotals.regions.flatMap(({ region, clusters }) => (region ? [[region, clusters]] : [])))
  const allRegions = [...new Set([...clusterCounts.keys(), ...(snippet?.regions ?? [])])].sort()
  const isEmpty = NAMES.every((file) => texts[file].trim() === '')
  const blockedReason = !name.trim()
    ? t('slurmSnippet.needName')
    : isEmpty
      ? t('slurmSnippet.needLines')
      : reason.trim()
        ? null
        : t('slurmAction.needReason')
  async function save() {
    const files = Object.fromEntries(
      NAMES.flatMap((file) => (texts[file].trim() ? [[INPUTS[file], texts[file]]] : [])),
    ) as SnippetFilesInput
    const fields = { files, clusterIds: [...chosen], regions: [...regions], reason: reason.trim() }
    const outcome = snippet
      ? await update.run({ input: { ...fields, id: snippet.id, expectedVersion: snippet.version } })
      : await create.run({ input: { ...fields, name: name.trim() } })
    if (!outcome.ok) return
    toast('ok', t('slurmSnippet.saved', { name: outcome.value.slurmConfigSnippet.name }))
    onClose()
    onDone(outcome.value.slurmConfigSnippet, fields.reason)
  }
  /** Issues of a file have the path `slurm.conf:3`. */
  const fileIssues = (file: FileName) =>
    problem?.issues
      .filter(({ path }) => path.startsWith(`${file}:`))
      .map(({ path, message }) => t('error.within', { name: path, message }))
      .join('\n') || undefined
  const others = otherIssues(problem, SHOWN).filter(({ path }) => !NAMES.some((file) => path.startsWith(`${file}:`)))
  return (
    <Dialog
      wide
      title={snippet ? t('slurmSnippet.editTitle', { name: snippet.name }) : t('slurmSnippet.new')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={busy} showReason blockedReason={blockedReason} onClick={() => void save()}>
            {t('slurmSnippet.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-sm text-muted">{t('slurmSnippet.saveText')}</p>
        {problem && (problem.issues.length === 0 || others.length > 0) && (
          <Notice tone="bad">{others.map(({ message }) => message).join(' ') || problem.message}</Notice>
        )}
        {!snippet && (
          <TextField
            label={t('slurmSnippet.name')}
            hint={t('slurmSnippet.nameHint')}
            mono
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={issueFor(problem, 'name')}
          />
        )}
        {NAMES.map((file) => (
          <TextAreaField
            key={file}
            label={file}
            mono
            optional={file !== 'slurm.conf'}
            rows={file === 'slurm.conf' ? 6 : 2}
            value={texts[file]}
            onChange={(event) => setTexts((before) => ({ ...before, [file]: event.target.value }))}
            error={fileIssues(file)}
          />
        ))}
        {allRegions.length > 0 && (
          <Choices
            legend={t('slurmSnippet.regions')}
            hint={t('slurmSnippet.regionsHint')}
            rows={allRegions.map((region) => ({
              ...{ id: region, label: region, isFixed: false },
              hint: t('slurmOverview.clusterCount', { count: clusterCounts.get(region) ?? 0 }),
            }))}
            chosen={regions}
            onChange={setRegions}
            error={issuesWithin(problem, 'regions')}
          />
        )}
        <Choices
          legend={t('slurmSnippet.clusters')}
          rows={clusters.rows.map(({ id, name, region, reuseConfig }) => {
            const isFixed = region !== null && regions.has(region)
            const notManaged = reuseConfig && t('slurmSnippetState.NOT_MANAGED')
            const hint = [isFixed ? t('slurmSnippet.byRegion', { region }) : region, notManaged].filter(Boolean).join(' · ')
            return { id, label: name, isFixed, hint }
          })}
          chosen={chosen}
          onChange={setChosen}
          error={issuesWithin(problem, 'clusterIds')}
        />
        {clusters.hasMore && <Button onClick={clusters.more}>{t('common.loadMore')}</Button>}
        <TextField
          label={t('slurmAction.reason')}
          maxLength={200}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          error={issueFor(problem, 'reason')}
        />
      </div>
    </Dialog>
  )
}

type ChoicesProps = {
  legend: string
  hint?: string
  /** `isFixed`: chosen by another field, which the hint names. */
  rows: { id: string; label: string; hint: string; isFixed: boolean }[]
  chosen: ReadonlySet<string>
  onChange: (chosen: Set<string>) => void
  error: string | undefined
}

/** Check boxes that scroll when there are many. */
function Choices({ legend, hint, rows, chosen, onChange, error }: ChoicesProps) {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-sm font-medium">{legend}</legend>
      {hint && <p className="text-xs text-muted">{hint}</p>}
      <div
        className="grid max-h-56 gap-2 overflow-auto sm:grid-cols-2"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        tabIndex={0}
      >
        {rows.map((row) => (
          <CheckField
            key={row.id}
            label={row.label}
            hint={row.hint}
            checked={row.isFixed || chosen.has(row.id)}
            disabled={row.isFixed}
            onChange={(event) => {
              const next = new Set(chosen)
              if (event.target.checked) next.add(row.id)
              else next.delete(row.id)
              onChange(next)
            }}
          />
        ))}
      </div>
      {error && <p className="text-xs text-bad">{error}</p>}
    </fieldset>
  )
}
