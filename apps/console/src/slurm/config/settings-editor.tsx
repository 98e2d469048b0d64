'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { issuesWithin } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { SelectField, TextField } from '@/ui/field.tsx'
import { type ConfigSettings, SettingsQuery } from './documents.ts'
import { VersionForm, VersionLoading } from './version-form.tsx'

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
  if (!settings) return <VersionLoading error={error} onRetry={() => refetch({ requestPolicy: 'network-only' })} />
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
  const [changes, setChanges] = useState<ReadonlyMap<string, Change>>(new Map())
  const [target, setTarget] = useState<Target>({})
  const [search, setSearch] = useState('')
  const list = [...changes.values()]
  const change = ({ key, value: before }: Setting, text: string) =>
    setChanges((all) => {
      const next = new Map(all)
      const value = text === '' ? null : text
      if (value === before) next.delete(changeKey({ ...target, key }))
      else next.set(changeKey({ ...target, key }), { ...target, key, value })
      return next
    })
  const wanted = search.trim().toLowerCase()
  const shown = settingsOf(settings, target).filter(({ key, description }) =>
    `${key} ${description}`.toLowerCase().includes(wanted),
  )
  const groups = [...new Set(shown.map(groupOf))]
  return (
    <VersionForm clusterId={clusterId} number={number} edit={{ changes: list }} isChanged={list.length > 0} onClose={onClose}>
      {(preview, problem) => {
        const errorOf = (key: string) => {
          const index = list.findIndex((one) => changeKey(one) === changeKey({ ...target, key }))
          if (index < 0) return undefined
          const found = preview?.problems.find((one) => one.severity === 'ERROR' && one.key?.toLowerCase() === key.toLowerCase())
          return issuesWithin(problem, `changes.${index}`) ?? found?.message
        }
        return (
          <>
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
            {groups.map((group) => (
              <section key={group ?? ''} className="flex flex-col gap-3">
                {group && <h3 className="text-sm font-semibold">{t(`slurmConfigGroup.${group}`)}</h3>}
                <div className="grid grid-cols-1 items-start gap-4 sm:grid-cols-2">
                  {shown
                    .filter((setting) => groupOf(setting) === group)
                    .map((setting) => {
                      const changed = changes.get(changeKey({ ...target, key: setting.key }))
                      return (
                        <SettingField
                          key={changeKey({ ...target, key: setting.key })}
                          setting={setting}
                          value={(changed ? changed.value : setting.value) ?? ''}
                          error={errorOf(setting.key)}
                          onChange={(text) => change(setting, text)}
                        />
                      )
                    })}
                </div>
              </section>
            ))}
          </>
        )
      }}
    </VersionForm>
  )
}

/** Keys of partitions and nodes have no group. */
const groupOf = (setting: Setting) => ('group' in setting ? (setting as ConfigSettings['settings'][number]).group : null)

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
  error,
  onChange,
}: {
  setting: Setting
  value: string
  error: string | undefined
  onChange: (text: string) => void
}) {
  const hint = fallback === null ? description : `${description} ${t('slurmConfig.defaultValue', { value: fallback })}`
  if (type === 'BOOLEAN')
    return (
      <SelectField
        label={key}
        hint={hint}
        error={error}
        value={value.toUpperCase()}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{t('slurmConfig.notSet')}</option>
        {[...new Set(['YES', 'NO', ...(value ? [value.toUpperCase()] : [])])].map((word) => (
          <option key={word} value={word}>
            {word}
          </option>
        ))}
      </SelectField>
    )
  return <TextField label={key} hint={hint} error={error} mono value={value} onChange={(event) => onChange(event.target.value)} />
}
