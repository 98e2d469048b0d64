'use client'
import { Download, Lock, ScrollText, SearchX } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useChainVerification, VerificationResult, VerifyButton } from '@/audit/chain-status.tsx'
import { AuditEntriesQuery, type AuditEntry } from '@/audit/documents.ts'
import { AuditEntryDialog } from '@/audit/entry-dialog.tsx'
import { AuditEntryLine, entryCardHeight, entryColumns, entryHeight } from '@/audit/entry-line.tsx'
import { auditFilter } from '@/audit/filter.ts'
import { AuditFilterBar } from '@/audit/filter-bar.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { t } from '@/messages/index.ts'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'

/** The audit log. Its filters are in the URL; `?object=ID` and `?run=ID` limit it to an object or a run. */
export default function AuditPage() {
  useTitle(t('nav.audit'))
  const query = useQueryState()
  const isNarrow = useNarrow()
  const [open, setOpen] = useState<AuditEntry | null>(null)
  const isInstallationAdmin = useBlockedReason('installation_audit:read') === null
  const ofInstallation = isInstallationAdmin && query.get('scope') === 'installation'
  const verification = useChainVerification(ofInstallation)
  const filter = useMemo(() => auditFilter(query), [query])
  const list = useConnection(
    'audit',
    AuditEntriesQuery,
    { filter: ofInstallation ? { ...filter, ofInstallation } : filter },
    (result) => result.auditEntries,
  )
  const isFiltered = Object.keys(filter).length > 0
  const rowHeight = isNarrow ? entryCardHeight : entryHeight

  if (list.problem?.code === 'FORBIDDEN')
    return (
      <>
        <PageHead title={t('nav.audit')} />
        <Empty icon={<Lock aria-hidden />} title={t('audit.forbidden')}>
          <p>{list.problem.message}</p>
        </Empty>
      </>
    )
  return (
    <>
      <PageHead title={t('nav.audit')} below={<p className="text-sm text-muted">{t('audit.lead')}</p>}>
        {isInstallationAdmin && (
          <FilterSelect label={t('audit.scope')} value={query.get('scope')} onChange={(value) => query.set({ scope: value })}>
            <option value="">{t('audit.scopeTenant')}</option>
            <option value="installation">{t('audit.scopeInstallation')}</option>
          </FilterSelect>
        )}
        <VerifyButton {...verification} />
        <a
          href={ofInstallation ? '/api/audit?scope=installation' : '/api/audit'}
          download={ofInstallation ? 'audit-installation.ndjson' : 'audit.ndjson'}
          className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-panel px-3 text-sm font-medium whitespace-nowrap hover:bg-hover [&_svg]:size-3.5"
        >
          <Download aria-hidden />
          {t('audit.export')}
        </a>
      </PageHead>
      <VerificationResult {...verification} />
      <AuditFilterBar query={query} />
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('audit.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : !list.isLoading && list.rows.length === 0 ? (
        <Empty
          icon={isFiltered ? <SearchX aria-hidden /> : <ScrollText aria-hidden />}
          title={t(isFiltered ? 'audit.noMatch' : 'audit.empty')}
        />
      ) : (
        <div className="rounded-lg border border-line bg-panel">
          {!isNarrow && (
            <div
              className={`${entryColumns} sticky top-0 z-10 h-9 rounded-t-lg border-b border-line bg-panel text-xs font-medium text-muted`}
            >
              <span>{t('audit.time')}</span>
              <span>{t('audit.actor')}</span>
              <span>{t('audit.action')}</span>
              <span>{t('audit.object')}</span>
              <span>{t('audit.outcome')}</span>
              <span>{t('audit.from')}</span>
            </div>
          )}
          {list.isLoading ? (
            <SkeletonRows rows={8} height={rowHeight} />
          ) : (
            <VirtualList
              label={t('nav.audit')}
              rows={list.rows}
              rowHeight={rowHeight}
              renderRow={(entry) => <AuditEntryLine entry={entry} isNarrow={isNarrow} onOpen={() => setOpen(entry)} />}
              onNearEnd={list.more}
              hasMore={list.hasMore}
            />
          )}
        </div>
      )}
      {open && (
        <AuditEntryDialog
          entry={open}
          onClose={() => setOpen(null)}
          onFilter={(changes) => {
            setOpen(null)
            query.go({ text: null, actor: null, action: null, outcome: null, object: null, run: null, ...changes })
          }}
        />
      )}
    </>
  )
}
