'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Failure } from '@/ui/failure.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { ClusterSettingsQuery } from './cluster-documents.ts'

/** The configuration that the controller uses, searchable. */
export function SettingsTab({ id }: { id: string }) {
  const [search, setSearch] = useState('')
  const [{ data, error }, refetch] = useQuery({
    query: ClusterSettingsQuery,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const cluster = data?.slurmCluster
  if (error && !cluster)
    return (
      <Failure
        title={t('slurm.loadOneFailed')}
        message={toProblem(error).message}
        onRetry={() => refetch({ requestPolicy: 'network-only' })}
      />
    )
  if (!cluster) return <Skeleton className="h-96 w-full" />
  if (cluster.settings.length === 0) return <Notice>{t('slurmSettings.empty')}</Notice>
  const wanted = search.trim().toLowerCase()
  const shown = cluster.settings
    .filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(wanted))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <TextField
          className="min-w-60"
          type="search"
          label={t('slurmSettings.search')}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <p className="text-xs text-muted">
          {cluster.settingsReadAt && t.rich('slurmSettings.age', { time: () => <RelativeTime at={cluster.settingsReadAt} /> })}
        </p>
      </div>
      {shown.length === 0 ? (
        <p className="text-sm text-muted">{t('slurm.filterNoMatch')}</p>
      ) : (
        <dl className="grid gap-x-6 rounded-lg border border-line bg-panel p-4 font-mono text-xs sm:grid-cols-[minmax(160px,260px)_1fr]">
          {shown.map(({ name, value }) => (
            <div key={name} className="contents">
              <dt className="pt-1 text-muted">{name}</dt>
              <dd className="min-w-0 pb-1 break-all sm:pt-1">{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  )
}
