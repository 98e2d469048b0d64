'use client'
import { useState } from 'react'
import { useClient } from 'urql'
import { issueFor, type Problem, toProblem, unwrap } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { type StartEstimate, type StartInput, StartsQuery } from './documents.ts'
import { StartList } from './start-list.tsx'

const GIB = 1024 ** 3
const EMPTY = { nodes: '1', cpus: '1', memory: '', gpus: '', gpuType: '', timeLimit: '60', partition: '' }
type Form = typeof EMPTY

const toInput = (form: Form): StartInput => ({
  nodes: Number(form.nodes),
  cpus: Number(form.cpus),
  timeLimitMinutes: Number(form.timeLimit),
  ...(form.memory === '' ? {} : { memoryBytes: Number(form.memory) * GIB }),
  ...(form.gpus === '' ? {} : { gpus: Number(form.gpus) }),
  ...(form.gpuType === '' ? {} : { gpuType: form.gpuType }),
  ...(form.partition.trim() === '' ? {} : { partition: form.partition.trim() }),
})

type Props = {
  gpuModels: readonly string[]
  /** Names of clusters with outdated data. */
  skipped: readonly string[]
}

/** Asks where a job would start first, and lists the answer of each cluster. */
export function StartEstimates({ gpuModels, skipped }: Props) {
  const client = useClient()
  const [form, setForm] = useState(EMPTY)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [estimates, setEstimates] = useState<readonly StartEstimate[] | null>(null)
  const field = (key: keyof Form, path: string = key) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
    error: issueFor(problem, path),
  })
  const number = { type: 'number', step: 1, min: 1 } as const
  async function run() {
    setBusy(true)
    const { data, error } = await client
      .query(StartsQuery, { input: toInput(form) }, { requestPolicy: 'network-only' })
      .toPromise()
    const outcome = data ? unwrap(data) : null
    setBusy(false)
    setEstimates(outcome?.ok ? outcome.value.estimates : null)
    setProblem(outcome ? (outcome.ok ? null : outcome.problem) : error ? toProblem(error) : null)
  }
  return (
    <Panel title={t('slurmOverview.startTitle')}>
      <div className="flex flex-col gap-4">
        <form
          aria-label={t('slurmOverview.startTitle')}
          className="grid grid-cols-2 items-end gap-3 sm:grid-cols-4"
          onSubmit={(event) => {
            event.preventDefault()
            if (!busy) void run()
          }}
        >
          <TextField {...number} required label={t('slurmOverview.nodes')} {...field('nodes')} />
          <TextField {...number} required label={t('slurmOverview.cpus')} {...field('cpus')} />
          <TextField {...number} label={t('slurmOverview.memory')} {...field('memory', 'memoryBytes')} />
          <TextField {...number} required label={t('slurmAction.timeLimit')} {...field('timeLimit', 'timeLimitMinutes')} />
          <TextField {...number} min={0} label={t('slurmOverview.gpus')} {...field('gpus')} />
          <SelectField label={t('slurmOverview.gpuType')} {...field('gpuType')}>
            <option value="">{t('slurmOverview.anyGpu')}</option>
            {gpuModels.map((model) => (
              <option key={model} value={model}>
                {model}
              </option>
            ))}
          </SelectField>
          <TextField label={t('slurmJob.partition')} placeholder={t('slurm.anyPartition')} {...field('partition')} />
          <div className="flex">
            <Button type="submit" variant="primary" busy={busy}>
              {t('slurmOverview.estimate')}
            </Button>
          </div>
        </form>
        {problem && problem.issues.length === 0 && <Notice tone="bad">{problem.message}</Notice>}
        {estimates && <StartList estimates={estimates} skipped={skipped} />}
      </div>
    </Panel>
  )
}
