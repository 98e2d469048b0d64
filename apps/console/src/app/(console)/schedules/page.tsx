'use client'
import { CalendarClock, Plus, SearchX } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import type { VariablesOf } from '@/graphql/graphql.ts'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { SchedulesQuery, SchedulesUpdated } from '@/schedules/documents.ts'
import { ruleLanguage } from '@/schedules/language.ts'
import { ScheduleList } from '@/schedules/schedule-list.tsx'
import { TriggerList } from '@/triggers/trigger-list.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { Tabs } from '@/ui/tabs.tsx'

type Filter = NonNullable<VariablesOf<typeof SchedulesQuery>['filter']>

function Filters({ query }: { query: ReturnType<typeof useQueryState> }) {
  const [text, setText] = useState(query.get('q'))
  useEffect(() => {
    if (text === query.get('q')) return
    const timer = setTimeout(() => query.set({ q: text }), 200)
    return () => clearTimeout(timer)
  }, [text, query])
  return (
    <div className="flex flex-wrap gap-2 pb-3">
      <input
        data-search
        type="search"
        aria-label={t('schedule.search')}
        placeholder={t('schedule.search')}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="h-8 min-w-0 flex-1 basis-48 rounded-md border border-line-strong bg-panel px-2.5 text-sm placeholder:text-faint md:max-w-sm"
      />
      <FilterSelect label={t('schedule.target')} value={query.get('target')} onChange={(value) => query.set({ target: value })}>
        <option value="">{t('schedule.anyTarget')}</option>
        <option value="RUN">{t('scheduleTarget.RUN')}</option>
        <option value="DISCOVERY">{t('scheduleTarget.DISCOVERY')}</option>
      </FilterSelect>
      <FilterSelect label={t('schedule.state')} value={query.get('state')} onChange={(value) => query.set({ state: value })}>
        <option value="">{t('schedule.anyState')}</option>
        <option value="enabled">{t('schedule.enabled')}</option>
        <option value="disabled">{t('schedule.disabled')}</option>
      </FilterSelect>
    </div>
  )
}

function Schedules() {
  const query = useQueryState()
  const filter = useMemo((): Filter => {
    const [target, state] = [query.get('target') as 'RUN' | 'DISCOVERY' | '', query.get('state')]
    return {
      ...(query.get('q') && { text: query.get('q') }),
      ...(target && { target }),
      ...(state && { isEnabled: state === 'enabled' }),
    }
  }, [query])
  const isFiltered = Object.keys(filter).length > 0
  const language = ruleLanguage()
  const list = useConnection('schedules', SchedulesQuery, { filter, language }, (data) => data.schedules)
  useLive(SchedulesUpdated, { language }, ({ scheduleUpdated }) => {
    if (!list.patch(scheduleUpdated)) list.reloadDebounced()
  })
  const denied = useBlockedReason('schedule:write')
  const add = denied ? (
    <Button variant="primary" icon={<Plus aria-hidden />} blockedReason={denied}>
      {t('schedule.new')}
    </Button>
  ) : (
    <ButtonLink href="/schedules/new" variant="primary" icon={<Plus aria-hidden />}>
      {t('schedule.new')}
    </ButtonLink>
  )
  const hasNothing = !list.isLoading && !list.problem && list.rows.length === 0
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('schedule.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (hasNothing && !isFiltered)
    return (
      <Empty icon={<CalendarClock aria-hidden />} title={t('schedule.emptyTitle')} action={add}>
        <p>{t('schedule.emptyText')}</p>
      </Empty>
    )
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-x-3">
        <Filters query={query} />
        <div className="flex items-center gap-3 pb-3">
          {list.total !== null && (
            <span className="text-sm text-muted">
              {t('schedule.count', { count: list.total, number: formatNumber(list.total) })}
            </span>
          )}
          {add}
        </div>
      </div>
      {hasNothing ? (
        <Empty
          icon={<SearchX aria-hidden />}
          title={t('schedule.noMatch')}
          action={<ButtonLink href="/schedules">{t('filter.clearAll')}</ButtonLink>}
        />
      ) : list.isLoading ? (
        <div className="rounded-lg border border-line bg-panel">
          <SkeletonRows rows={5} height={80} />
        </div>
      ) : (
        <ScheduleList rows={list.rows} />
      )}
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
    </>
  )
}

/** What starts runs and discoveries without a user: schedules and webhook triggers. */
export default function SchedulesPage() {
  useTitle(t('schedule.title'))
  const query = useQueryState()
  const tab = query.get('tab') === 'triggers' ? 'triggers' : 'schedules'
  return (
    <>
      <PageHead title={t('schedule.title')} below={<p className="text-sm text-muted">{t('schedule.text')}</p>} />
      <Tabs
        label={t('schedule.views')}
        value={tab}
        onChange={(next) => query.set({ tab: next === 'schedules' ? null : next, q: null, target: null, state: null })}
        tabs={[
          { key: 'schedules', label: t('schedule.tab') },
          { key: 'triggers', label: t('trigger.tab') },
        ]}
      >
        {tab === 'schedules' ? <Schedules /> : <TriggerList />}
      </Tabs>
    </>
  )
}
