'use client'
import { BellRing, SearchX } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { t } from '@/messages/index.ts'
import { ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import type { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useSelection } from '@/ui/hooks/use-selection.ts'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'
import { AcknowledgeDialog } from './acknowledge-dialog.tsx'
import { AlertDialog } from './alert-dialog.tsx'
import { AlertLine, alertCardHeight, alertColumns, alertHeight } from './alert-line.tsx'
import { alertKinds, severities } from './badges.tsx'
import { type AlertFilter, type AlertRow, AlertsQuery, AlertUpdated } from './documents.ts'
import { ResolveDialog } from './resolve-dialog.tsx'
import { AlertSelectionBar } from './selection-bar.tsx'
import { SilenceDialog } from './silence-dialog.tsx'

type Query = ReturnType<typeof useQueryState>

/** Converts the URL query to the API's filter; open alerts by default. */
function toFilter(query: Query): AlertFilter {
  const severity = severities.find((each) => each === query.get('severity'))
  const kind = alertKinds.find((each) => each === query.get('kind'))
  return {
    ...(query.get('state') === 'all' ? {} : { isOpen: query.get('state') !== 'resolved' }),
    ...(severity && { severity: [severity] }),
    ...(kind && { kind: [kind] }),
  }
}

function Filters({ query }: { query: Query }) {
  return (
    <div className="flex flex-wrap gap-2 pb-3">
      <FilterSelect label={t('alerts.state')} value={query.get('state')} onChange={(value) => query.set({ state: value })}>
        <option value="">{t('alerts.stateOpen')}</option>
        <option value="resolved">{t('alerts.stateResolved')}</option>
        <option value="all">{t('alerts.stateAll')}</option>
      </FilterSelect>
      <FilterSelect
        label={t('alerts.severity')}
        value={query.get('severity')}
        onChange={(value) => query.set({ severity: value })}
      >
        <option value="">{t('alerts.anySeverity')}</option>
        {severities.map((severity) => (
          <option key={severity} value={severity}>
            {t(`alertSeverity.${severity}`)}
          </option>
        ))}
      </FilterSelect>
      <FilterSelect label={t('alerts.kind')} value={query.get('kind')} onChange={(value) => query.set({ kind: value })}>
        <option value="">{t('alerts.anyKind')}</option>
        {alertKinds.map((kind) => (
          <option key={kind} value={kind}>
            {t(`alertKind.${kind}`)}
          </option>
        ))}
      </FilterSelect>
    </div>
  )
}

/** Alerts, newest first, with live updates. */
export function AlertList({ query, onSilenceCreated }: { query: Query; onSilenceCreated: () => void }) {
  const isNarrow = useNarrow()
  const filter = useMemo(() => toFilter(query), [query])
  const list = useConnection('alerts', AlertsQuery, { filter }, (data) => data.alerts)
  const [open, setOpen] = useState<{ kind: 'details' | 'acknowledge' | 'silence' | 'resolve'; alert: AlertRow } | null>(null)
  const [isAcknowledging, setAcknowledging] = useState(false)
  const { selected, set: select, toggle } = useSelection(list.rows)
  const selectedAlerts = list.rows.filter(({ id }) => selected.has(id))
  const isAllSelected = list.rows.length > 0 && selectedAlerts.length === list.rows.length
  useLive(AlertUpdated, {}, ({ alertUpdated }) => {
    list.patch(alertUpdated.alert)
    list.reloadDebounced()
  })
  const isFiltered = Boolean(filter.severity || filter.kind || query.get('state'))
  const close = () => setOpen(null)
  return (
    <>
      <Filters query={query} />
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('alerts.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : !list.isLoading && list.rows.length === 0 ? (
        isFiltered ? (
          <Empty
            icon={<SearchX aria-hidden />}
            title={t('alerts.noMatch')}
            action={<ButtonLink href="/alerts">{t('filter.clearAll')}</ButtonLink>}
          />
        ) : (
          <Empty icon={<BellRing aria-hidden />} title={t('alerts.emptyTitle')}>
            <p>{t('alerts.emptyText')}</p>
          </Empty>
        )
      ) : (
        <div className="rounded-lg border border-line bg-panel">
          {!isNarrow && (
            <div
              className={`${alertColumns} sticky top-0 z-10 h-9 rounded-t-lg border-b border-line bg-panel text-xs font-medium text-muted`}
            >
              <input
                type="checkbox"
                aria-label={t('nodes.selectLoaded')}
                checked={isAllSelected}
                onChange={() => select(isAllSelected ? [] : list.rows.map(({ id }) => id))}
                className="size-4 accent-accent"
              />
              <span>{t('alerts.severity')}</span>
              <span>{t('alerts.what')}</span>
              <span>{t('alerts.state')}</span>
              <span>{t('alerts.count')}</span>
              <span>{t('alerts.last')}</span>
              <span className="w-[68px]" />
            </div>
          )}
          {list.isLoading ? (
            <SkeletonRows rows={8} height={isNarrow ? alertCardHeight : alertHeight} />
          ) : (
            <VirtualList
              label={t('nav.alerts')}
              rows={list.rows}
              rowHeight={isNarrow ? alertCardHeight : alertHeight}
              renderRow={(alert, index) => (
                <AlertLine
                  alert={alert}
                  isNarrow={isNarrow}
                  isSelected={selected.has(alert.id)}
                  onSelect={(isRange) => toggle(index, isRange)}
                  onOpen={() => setOpen({ kind: 'details', alert })}
                  onAcknowledge={() => setOpen({ kind: 'acknowledge', alert })}
                  onSilence={() => setOpen({ kind: 'silence', alert })}
                />
              )}
              onNearEnd={list.more}
              hasMore={list.hasMore}
            />
          )}
        </div>
      )}
      {selectedAlerts.length > 0 && (
        <AlertSelectionBar
          count={selectedAlerts.length}
          blockedReason={selectedAlerts[0]?.acknowledgeBlockedReason ?? null}
          onAcknowledge={() => setAcknowledging(true)}
          onClear={() => select([])}
        />
      )}
      {isAcknowledging && (
        <AcknowledgeDialog
          alerts={selectedAlerts}
          onClose={() => setAcknowledging(false)}
          onDone={(alerts) => {
            for (const alert of alerts) list.patch(alert)
            select([])
          }}
        />
      )}
      {open?.kind === 'details' && (
        <AlertDialog alert={open.alert} onClose={close} onResolve={() => setOpen({ kind: 'resolve', alert: open.alert })} />
      )}
      {open?.kind === 'resolve' && <ResolveDialog alert={open.alert} onClose={close} onDone={(alert) => list.patch(alert)} />}
      {open?.kind === 'acknowledge' && (
        <AcknowledgeDialog alerts={[open.alert]} onClose={close} onDone={([alert]) => alert && list.patch(alert)} />
      )}
      {open?.kind === 'silence' && <SilenceDialog alert={open.alert} onClose={close} onDone={onSilenceCreated} />}
    </>
  )
}
