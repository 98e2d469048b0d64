'use client'
import { useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { LookUpPriority, type Lookup } from './documents.ts'
import { useLookup } from './use-lookup.ts'

type Priority = Lookup['priorities'][number]
type Share = Lookup['shares'][number]

/** What the priority of a pending job consists of, and the shares of its user and account; commands on the cluster, so on demand. */
export function PriorityPanel({ clusterId, jobId }: { clusterId: string; jobId: string }) {
  const { run } = useMutation(LookUpPriority)
  const [isOpen, setOpen] = useState(false)
  const { result, error, retry } = useLookup(isOpen ? `${clusterId} ${jobId}` : null, () => run({ input: { clusterId, jobId } }))
  return (
    <Panel
      title={t('slurmPriority.title')}
      actions={
        error !== null && (
          <Button variant="quiet" onClick={retry}>
            {t('common.retry')}
          </Button>
        )
      }
    >
      {!isOpen ? (
        <Button onClick={() => setOpen(true)}>{t('slurmPriority.show')}</Button>
      ) : error !== null ? (
        <p className="text-sm text-bad" role="alert">
          {error}
        </p>
      ) : !result ? (
        <Skeleton className="h-40 w-full" />
      ) : result.priorities.length === 0 ? (
        <p className="text-sm text-muted">{t('slurmPriority.none')}</p>
      ) : (
        <div className="grid gap-6 lg:grid-cols-2">
          {result.priorities.map((priority) => (
            <Factors key={priority.partition} priority={priority} />
          ))}
          {result.shares.map((share) => (
            <ShareList key={`${share.account} ${share.user}`} share={share} />
          ))}
        </div>
      )}
    </Panel>
  )
}

function Factors({ priority: { partition, priority, factors } }: { priority: Priority }) {
  const used = factors.filter(({ points, value }) => points !== 0 || value)
  const largest = Math.max(1, ...used.map(({ points }) => Math.abs(points)))
  return (
    <section className="flex flex-col gap-2">
      <h3 className="flex justify-between gap-2 text-sm font-medium">
        <span className="font-mono">{partition}</span>
        <span className="tabular-nums">{formatNumber(priority)}</span>
      </h3>
      <ul className="flex flex-col gap-2 text-sm">
        {used.map(({ factor, resource, points }) => (
          <li key={`${factor} ${resource}`} className="grid grid-cols-[minmax(90px,140px)_1fr_80px] items-center gap-3">
            <span className="min-w-0 truncate text-muted">{resource ?? t(`slurmPriorityFactor.${factor}`)}</span>
            <progress
              className="h-1.5 w-full appearance-none overflow-hidden rounded-full bg-sunken [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-text/10 [&::-webkit-progress-value]:bg-accent"
              aria-label={resource ?? t(`slurmPriorityFactor.${factor}`)}
              max={largest}
              value={Math.max(0, points)}
            />
            <span className="text-right tabular-nums">{formatNumber(points)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function ShareList({ share }: { share: Share }) {
  const number = (value: number | null) => (value === null ? t('common.none') : String(Number(value.toPrecision(3))))
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-sm font-medium">
        {share.user
          ? t('slurmPriority.sharesOfUser', { user: share.user, account: share.account })
          : t('slurmPriority.sharesOfAccount', { account: share.account })}
      </h3>
      <PropertyList
        rows={[
          [t('slurmPriority.shares'), share.isParent ? t('slurmPriority.parent') : number(share.shares)],
          [t('slurmPriority.normalized'), number(share.normalizedShares)],
          [t('slurmPriority.usage'), number(share.effectiveUsage)],
          [t('slurmPriority.fairShare'), number(share.fairShare)],
        ]}
      />
    </section>
  )
}
