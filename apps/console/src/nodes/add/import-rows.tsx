import { t } from '@/messages/index.ts'
import { formatAddress } from '@/nodes/badges.tsx'
import { State, type Tone } from '@/ui/badge.tsx'
import type { ImportReport, ImportRow } from './documents.ts'

const tones: Record<ImportRow['state'], Tone> = { VALID: 'ok', ADDED: 'ok', EXISTS: 'neutral', INVALID: 'bad' }
const maxShown = 300
const columns = 'grid grid-cols-[28px_1fr_auto] gap-x-3 px-3 md:grid-cols-[40px_minmax(0,1fr)_minmax(0,1fr)_minmax(0,1.2fr)]'

function Row({ row }: { row: ImportRow }) {
  return (
    <li className={`${columns} border-b border-line py-1.5 text-sm last:border-0`} data-state={row.state}>
      <span className="text-faint tabular-nums">{row.row}</span>
      <span className="min-w-0 font-mono text-xs leading-5 break-all">
        {row.name ?? <span className="text-muted">{row.source}</span>}
      </span>
      <span className="col-start-2 min-w-0 font-mono text-xs leading-5 break-all text-muted md:col-start-auto">
        {row.host ? formatAddress(row.host, row.port ?? 22) : t('common.none')}
      </span>
      <span className="col-start-3 row-start-1 md:col-start-auto md:row-start-auto">
        <State tone={tones[row.state]}>{t(`importState.${row.state}`)}</State>
      </span>
      {row.issues.map((issue) => (
        <p key={issue.path + issue.message} className="col-span-2 col-start-2 text-xs text-bad md:col-span-1 md:col-start-4">
          {t('import.issue', { field: issue.path.split('.').at(-1) ?? '', problem: issue.message })}
        </p>
      ))}
    </li>
  )
}

/** The parsed rows with their issues, invalid rows first. */
export function ImportRows({ report }: { report: ImportReport }) {
  const rows = [...report.rows].sort((a, b) => Number(b.state === 'INVALID') - Number(a.state === 'INVALID') || a.row - b.row)
  return (
    <div className="rounded-lg border border-line bg-panel">
      <div
        className={`${columns} hidden h-8 items-center border-b border-line text-xs font-medium text-muted md:grid`}
        aria-hidden
      >
        <span>{t('import.row')}</span>
        <span>{t('nodes.name')}</span>
        <span>{t('nodes.address')}</span>
        <span>{t('import.state')}</span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable for the keyboard to scroll it */}
      <ul className="max-h-[420px] overflow-auto" tabIndex={0} aria-label={t('import.check')}>
        {rows.slice(0, maxShown).map((row) => (
          <Row key={`${row.row} ${row.name} ${row.host}`} row={row} />
        ))}
      </ul>
      {rows.length > maxShown && (
        <p className="border-t border-line px-3 py-2 text-xs text-muted">{t('import.more', { count: rows.length - maxShown })}</p>
      )}
    </div>
  )
}
