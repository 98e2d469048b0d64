'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { issueFor, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { usePreview } from '../scale/use-preview.ts'
import { type ConfigSettings, PreviewConfig, SaveConfig, SettingsQuery } from './documents.ts'
import { PlanView } from './plan-view.tsx'

type Setting = ConfigSettings['partitions'][number]['settings'][number]
/** The lines that a change is about: the cluster, a partition or nodes. */
type Target = { partition?: string; nodes?: string }
type Change = Target & { key: string; value: string | null }

const targetKey = ({ partition, nodes }: Target) => (partition ? `partition ${partition}` : nodes ? `nodes ${nodes}` : 'cluster')
const changeKey = (change: Target & { key: string }) => `${targetKey(change)} ${change.key}`

/** Changes keys of slurm.conf one by one, and saves the result as the next version. */
export function SettingsEditor({ clusterId, number, onClose }: { clusterId: string; number: number; onClose: () => void }) {
  const [{ data, error }, refetch] = useQuery({ query: SettingsQuery, variables: { id: clusterId, number } })
  const settings = data?.slurmCluster?.configSettings
  if (error && !settings)
    return (
      <Failure
        title={t('slurmConfig.loadFailed')}
        message={toProblem(error).message}
        onRetry={() => refetch({ requestPolicy: 'network-only' })}
      />
    )
  if (!settings) return <Skeleton className="h-96 w-full" />
  return <Editor clusterId={clusterId} number={number} settings={settings} onClose={onClose} />
}

function Editor({
  clusterId,
  number,
  settings,
  onClose,
}: {
  clusterId: string
  number: number
  settings: ConfigSettings
  onClose: () => void
}) {
  const save = useMutation(SaveConfig)
  const [changes, setChanges] = useState<ReadonlyMap<string, Change>>(new Map())
  const [target, setTarget] = useState<Target>({})
  const [search, setSearch] = useState('')
  const [reason, setReason] = useState('')
  const list = [...changes.values()]
  const { data, error, isLoading } = usePreview(PreviewConfig, { clusterId, number, changes: list }, list.length > 0)
  const outcome = data && unwrap(data)
  const preview = outcome?.ok ? outcome.value : null
  const problem = error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null
  const blockedReason = list.length === 0 ? t('slurmConfig.needChange') : reason.trim() ? null : t('slurmAction.needReason')
  const change = ({ key, value: before }: Setting, text: string) =>
    setChanges((all) => {
      const next = new Map(all)
      const value = text === '' ? null : text
      if (value === before) next.delete(changeKey({ ...target, key }))
      else next.set(changeKey({ ...target, key }), { ...target, key, value })
      return next
    })
  async function run() {
    if (blockedReason) return
    const saved = await save.run({ input: { clusterId, basedOn: number, changes: list, reason: reason.trim() } })
    if (!saved.ok) return
    toast('ok', t('slurmConfig.saved', { number: String(saved.value.slurmConfigVersion.number) }))
    onClose()
  }
  const wanted = search.trim().toLowerCase()
  const shown = settingsOf(settings, target).filter(({ key, description }) =>
    `${key} ${description}`.toLowerCase().includes(wanted),
  )
  return (
    <form
      className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <div className="flex min-w-0 flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <TargetField settings={settings} target={target} onChange={setTarget} />
          <TextField
            type="search"
            label={t('slurmSettings.search')}
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        </div>
        {shown.length === 0 && <p className="text-sm text-muted">{t('slurm.filterNoMatch')}</p>}
        <div className="grid gap-4 sm:grid-cols-2">
          {shown.map((setting) => {
            const changed = changes.get(changeKey({ ...target, key: setting.key }))
            return (
              <SettingField
                key={changeKey({ ...target, key: setting.key })}
                setting={setting}
                value={(changed ? changed.value : setting.value) ?? ''}
                onChange={(text) => change(setting, text)}
              />
            )
          })}
        </div>
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
        {problem && (
          <Notice tone="bad">
            <p>{problem.message}</p>
            {problem.issues.map(({ path, message }) => (
              <p key={`${path} ${message}`}>{message}</p>
            ))}
          </Notice>
        )}
        {isLoading ? <Skeleton className="h-48 w-full" /> : preview && <PlanView preview={preview} />}
        {list.length === 0 && <p className="text-sm text-muted">{t('slurmConfig.needChange')}</p>}
      </Panel>
    </form>
  )
}

const settingsOf = ({ settings, partitions, nodes }: ConfigSettings, target: Target): Setting[] =>
  target.partition
    ? (partitions.find(({ name }) => name === target.partition)?.settings ?? [])
    : target.nodes
      ? (nodes.find(({ name }) => name === target.nodes)?.settings ?? [])
      : settings

function TargetField({
  settings: { partitions, nodes },
  target,
  onChange,
}: {
  settings: ConfigSettings
  target: Target
  onChange: (target: Target) => void
}) {
  const targets: [label: string, target: Target][] = [
    [t('slurmConfig.wholeCluster'), {}],
    ...partitions.map(({ name }): [string, Target] => [t('slurmConfig.onePartition', { name }), { partition: name }]),
    ...nodes.map(({ name }): [string, Target] => [t('slurmConfig.someNodes', { name }), { nodes: name }]),
  ]
  return (
    <SelectField
      label={t('slurmConfig.target')}
      value={targetKey(target)}
      onChange={(event) => onChange(targets.find(([, one]) => targetKey(one) === event.target.value)?.[1] ?? {})}
    >
      {targets.map(([label, one]) => (
        <option key={targetKey(one)} value={targetKey(one)}>
          {label}
        </option>
      ))}
    </SelectField>
  )
}

function SettingField({
  setting: { key, type, description, default: fallback },
  value,
  onChange,
}: {
  setting: Setting
  value: string
  onChange: (text: string) => void
}) {
  const hint = fallback === null ? description : `${description} ${t('slurmConfig.defaultValue', { value: fallback })}`
  if (type === 'BOOLEAN')
    return (
      <SelectField label={key} hint={hint} value={value.toUpperCase()} onChange={(event) => onChange(event.target.value)}>
        <option value="">{t('slurmConfig.notSet')}</option>
        {[...new Set(['YES', 'NO', ...(value ? [value.toUpperCase()] : [])])].map((word) => (
          <option key={word} value={word}>
            {word}
          </option>
        ))}
      </SelectField>
    )
  return <TextField label={key} hint={hint} mono value={value} onChange={(event) => onChange(event.target.value)} />
}
