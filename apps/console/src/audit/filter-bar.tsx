'use client'
import { X } from 'lucide-react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import type { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useQueryText } from '@/ui/hooks/use-query-text.ts'
import { AuditActionsQuery } from './documents.ts'
import { actionGroups, auditChannels, auditFilterKeys, auditOutcomes } from './filter.ts'

type Query = ReturnType<typeof useQueryState>
const field = 'h-8 rounded-md border border-line-strong bg-panel px-2 text-sm placeholder:text-faint'

function TextFilter({ query, name, label, className }: { query: Query; name: string; label: string; className: string }) {
  const [text, setText] = useQueryText(query, name)
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      className={`${field} min-w-0 ${className}`}
    />
  )
}

function DayFilter({ query, name, label }: { query: Query; name: 'from' | 'to'; label: string }) {
  return (
    <label className="flex min-w-0 items-center gap-1.5 text-sm text-muted">
      {label}
      <input
        type="date"
        value={query.get(name)}
        onChange={(event) => query.set({ [name]: event.target.value })}
        className={`${field} min-w-0 text-text`}
      />
    </label>
  )
}

/** Filters of the audit log; their state is in the URL. */
export function AuditFilterBar({ query }: { query: Query }) {
  const [{ data }] = useQuery({ query: AuditActionsQuery })
  const action = query.get('action')
  const groups = actionGroups(data?.auditActions ?? [])
  const isKnown = action === '' || groups.some(([object, actions]) => object === action || actions.includes(action))
  const isFiltered = auditFilterKeys.some((key) => query.get(key) !== '')
  const single = (['object', 'run'] as const).filter((key) => query.get(key) !== '')
  return (
    <div className="flex flex-wrap items-center gap-2 pb-3">
      <TextFilter query={query} name="text" label={t('audit.search')} className="flex-1 basis-56 md:max-w-xs" />
      <TextFilter query={query} name="actor" label={t('audit.actor')} className="flex-1 basis-32 md:max-w-40" />
      <TextFilter query={query} name="address" label={t('audit.address')} className="flex-1 basis-32 md:max-w-40" />
      <FilterSelect className="w-44" label={t('audit.action')} value={action} onChange={(value) => query.set({ action: value })}>
        <option value="">{t('audit.anyAction')}</option>
        {!isKnown && <option value={action}>{action}</option>}
        {groups.map(([object, actions]) => (
          <optgroup key={object} label={object}>
            <option value={object}>{t('audit.allActions', { object })}</option>
            {actions.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </optgroup>
        ))}
      </FilterSelect>
      <FilterSelect label={t('audit.outcome')} value={query.get('outcome')} onChange={(value) => query.set({ outcome: value })}>
        <option value="">{t('audit.anyOutcome')}</option>
        {auditOutcomes.map((outcome) => (
          <option key={outcome} value={outcome}>
            {t(`auditOutcome.${outcome}`)}
          </option>
        ))}
      </FilterSelect>
      <FilterSelect label={t('audit.channel')} value={query.get('channel')} onChange={(value) => query.set({ channel: value })}>
        <option value="">{t('audit.anyChannel')}</option>
        {auditChannels.map((channel) => (
          <option key={channel} value={channel}>
            {t(`auditChannel.${channel}`)}
          </option>
        ))}
      </FilterSelect>
      <div className="flex min-w-0 flex-wrap gap-2">
        <DayFilter query={query} name="from" label={t('audit.fromDay')} />
        <DayFilter query={query} name="to" label={t('audit.toDay')} />
      </div>
      {single.map((key) => (
        <Button key={key} icon={<X aria-hidden />} onClick={() => query.set({ [key]: null })}>
          {t(key === 'object' ? 'audit.oneObject' : 'audit.oneRun')}
        </Button>
      ))}
      {isFiltered && (
        <Button variant="quiet" onClick={() => query.set(Object.fromEntries(auditFilterKeys.map((key) => [key, null])))}>
          {t('filter.clearAll')}
        </Button>
      )}
    </div>
  )
}
