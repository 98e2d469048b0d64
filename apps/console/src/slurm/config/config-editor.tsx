'use client'
import { useEffect, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { issueFor, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { Tabs } from '@/ui/tabs.tsx'
import { toast } from '@/ui/toast.tsx'
import { usePreview } from '../scale/use-preview.ts'
import { type FilesInput, FilesQuery, PreviewConfig, SaveConfig } from './documents.ts'
import { PlanView } from './plan-view.tsx'

const INPUTS = {
  'slurm.conf': 'slurmConf',
  'gres.conf': 'gresConf',
  'cgroup.conf': 'cgroupConf',
  'topology.conf': 'topologyConf',
} as const
type FileName = keyof typeof INPUTS
const NAMES = Object.keys(INPUTS) as FileName[]
type Texts = Record<FileName, string>
const LINE_HEIGHT = 20

/** The files as input. A file without text does not exist, unless it was empty before. */
function toInput(texts: Texts, before: Partial<Texts>): FilesInput {
  const kept = NAMES.filter((name) => name === 'slurm.conf' || texts[name] !== '' || before[name] === '')
  return Object.fromEntries(kept.map((name) => [INPUTS[name], texts[name]])) as FilesInput
}

/** Edits a version and saves the result as the next one. */
export function ConfigEditor({ clusterId, number, onClose }: { clusterId: string; number: number; onClose: () => void }) {
  const [{ data, error }, refetch] = useQuery({ query: FilesQuery, variables: { id: clusterId, number } })
  const files = data?.slurmCluster?.configVersion?.files
  if (error && !files)
    return (
      <Failure
        title={t('slurmConfig.loadFailed')}
        message={toProblem(error).message}
        onRetry={() => refetch({ requestPolicy: 'network-only' })}
      />
    )
  if (!files) return <Skeleton className="h-96 w-full" />
  const before: Partial<Texts> = Object.fromEntries(files.map(({ name, text }) => [name, text]))
  return <Editor clusterId={clusterId} number={number} before={before} onClose={onClose} />
}

function Editor({
  clusterId,
  number,
  before,
  onClose,
}: {
  clusterId: string
  number: number
  before: Partial<Texts>
  onClose: () => void
}) {
  const save = useMutation(SaveConfig)
  const [file, setFile] = useState<FileName>('slurm.conf')
  const [texts, setTexts] = useState<Texts>(() => Object.fromEntries(NAMES.map((name) => [name, before[name] ?? ''])) as Texts)
  const [reason, setReason] = useState('')
  const isChanged = NAMES.some((name) => texts[name] !== (before[name] ?? ''))
  const files = toInput(texts, before)
  const { data, error, isLoading } = usePreview(PreviewConfig, { clusterId, files }, true)
  const outcome = data && unwrap(data)
  const preview = outcome?.ok ? outcome.value : null
  const problem = error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null
  const { area, goTo } = useLineJump(texts[file])
  const blockedReason = !isChanged ? t('slurmConfig.needChange') : reason.trim() ? null : t('slurmAction.needReason')
  async function run() {
    if (blockedReason) return
    const saved = await save.run({ input: { clusterId, basedOn: number, files, reason: reason.trim() } })
    if (!saved.ok) return
    toast('ok', t('slurmConfig.saved', { number: String(saved.value.slurmConfigVersion.number) }))
    onClose()
  }
  return (
    <form
      className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <div className="flex min-w-0 flex-col gap-4">
        <Tabs
          label={t('slurmConfig.files')}
          value={file}
          onChange={setFile}
          tabs={NAMES.map((name) => ({ key: name, label: name }))}
        >
          <TextAreaField
            ref={area}
            label={file}
            hint={file === 'slurm.conf' ? undefined : t('slurmConfig.emptyFile')}
            mono
            rows={24}
            wrap="off"
            value={texts[file]}
            onChange={(event) => setTexts((all) => ({ ...all, [file]: event.target.value }))}
          />
        </Tabs>
        <TextField
          label={t('slurmAction.reason')}
          maxLength={200}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          error={issueFor(save.problem, 'reason')}
        />
        {save.problem && (
          <Notice tone="bad">
            <p>{save.problem.message}</p>
            {save.problem.issues.map(({ path, message }) => (
              <p key={`${path} ${message}`}>{t('error.within', { name: path, message })}</p>
            ))}
          </Notice>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="primary" busy={save.busy} showReason blockedReason={blockedReason}>
            {t('slurmConfig.save')}
          </Button>
        </div>
      </div>
      <Panel title={t('slurmConfig.previewTitle')}>
        {problem && <Notice tone="bad">{problem.message}</Notice>}
        {isLoading ? (
          <Skeleton className="h-48 w-full" />
        ) : (
          preview && (
            <PlanView
              preview={preview}
              onLine={(name, line) => {
                setFile(name as FileName)
                goTo(line)
              }}
            />
          )
        )}
      </Panel>
    </form>
  )
}

/** Selects a line of a text area after the next render, in which it may show another file. */
function useLineJump(text: string) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [line, goTo] = useState<number | null>(null)
  useEffect(() => {
    if (line === null || !area.current) return
    const lines = text.split('\n')
    const start = lines.slice(0, line - 1).reduce((length, each) => length + each.length + 1, 0)
    area.current.focus()
    area.current.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
    area.current.scrollTop = (line - 4) * LINE_HEIGHT
    goTo(null)
  }, [line, text])
  return { area, goTo }
}
