'use client'
import { Timer } from 'lucide-react'
import Link from 'next/link'
import { useQuery } from 'urql'
import { BootDurationsQuery, BootFiltersQuery } from '@/boot/durations/documents.ts'
import { DurationTable } from '@/boot/durations/duration-table.tsx'
import { StuckList } from '@/boot/durations/stuck-list.tsx'
import { t } from '@/messages/index.ts'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead, Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

/** How long the stages of boots took, of all nodes or those of a group, and with any or one profile; and boots that are stuck. */
export default function BootDurationsPage() {
  useTitle(t('bootDuration.title'))
  const query = useQueryState()
  const [group, profile] = [query.get('group') || null, query.get('profile') || null]
  const [{ data: filters }] = useQuery({ query: BootFiltersQuery })
  const groups = filters?.nodeGroups.edges.map(({ node }) => node)
  const groupId = group ? groups?.find(({ name }) => name === group)?.id : undefined
  const [{ data, error, fetching }, refetch] = useQuery({
    query: BootDurationsQuery,
    variables: { filter: { groupId: groupId ?? null, profile } },
    requestPolicy: 'cache-and-network',
    pause: group !== null && groupId === undefined,
  })
  const rows = data?.bootDurations
  const isFiltered = group !== null || profile !== null
  return (
    <>
      <PageHead
        above={
          <Link href="/boot/profiles" className="hover:underline">
            {t('bootProfile.title')}
          </Link>
        }
        title={t('bootDuration.title')}
        below={<p className="text-sm text-muted">{t('bootDuration.text')}</p>}
      >
        <FilterSelect
          className="max-w-48"
          label={t('bootDuration.group')}
          value={group ?? ''}
          onChange={(value) => query.set({ group: value || null })}
        >
          <option value="">{t('bootDuration.allNodes')}</option>
          {groups?.map(({ id, name }) => (
            <option key={id}>{name}</option>
          ))}
        </FilterSelect>
        <FilterSelect
          label={t('bootDuration.profile')}
          value={profile ?? ''}
          onChange={(value) => query.set({ profile: value || null })}
        >
          <option value="">{t('bootDuration.allProfiles')}</option>
          {filters?.bootProfiles.edges.map(({ node }) => (
            <option key={node.id}>{node.name}</option>
          ))}
        </FilterSelect>
      </PageHead>
      <div className="flex flex-col gap-4">
        <StuckList group={group} profile={profile} />
        {error && !rows ? (
          <Failure
            title={t('bootDuration.loadFailed')}
            message={error.graphQLErrors[0]?.message ?? t('error.network')}
            onRetry={() => refetch({ requestPolicy: 'network-only' })}
          />
        ) : !rows || (fetching && rows.length === 0) ? (
          <Skeleton className="h-48 w-full" />
        ) : rows.length === 0 ? (
          <Empty icon={<Timer aria-hidden />} title={t('bootDuration.emptyTitle')}>
            <p>{t(isFiltered ? 'bootDuration.emptyFiltered' : 'boot.emptyText')}</p>
          </Empty>
        ) : (
          <Panel>
            <DurationTable rows={rows} />
          </Panel>
        )}
      </div>
    </>
  )
}
