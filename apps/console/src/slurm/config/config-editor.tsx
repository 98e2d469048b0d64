'use client'
import { useEffect, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { TextAreaField } from '@/ui/field.tsx'
import { Tabs } from '@/ui/tabs.tsx'
import { type FilesInput, FilesQuery } from './documents.ts'
import { VersionForm, VersionLoading } from './version-form.tsx'

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
  if (!files) return <VersionLoading error={error} onRetry={() => refetch({ requestPolicy: 'network-only' })} />
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
  const [file, setFile] = useState<FileName>('slurm.conf')
  const [texts, setTexts] = useState<Texts>(() => Object.fromEntries(NAMES.map((name) => [name, before[name] ?? ''])) as Texts)
  const isChanged = NAMES.some((name) => texts[name] !== (before[name] ?? ''))
  const files = toInput(texts, before)
  const { area, goTo } = useLineJump(texts[file])
  return (
    <VersionForm
      clusterId={clusterId}
      number={number}
      edit={{ files }}
      isChanged={isChanged}
      previewsUnchanged
      onLine={(name, line) => {
        setFile(name as FileName)
        goTo(line)
      }}
      onClose={onClose}
    >
      {() => (
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
      )}
    </VersionForm>
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
