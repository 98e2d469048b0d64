import { t } from '@/messages/index.ts'
import { formatAddress } from '@/nodes/badges.tsx'
import { State, type Tone } from '@/ui/badge.tsx'
import type { ImportReport, ImportRow } from './documents.ts'

const tones: Record<ImportRow['state'], Tone> = { VALID: 'ok', ADDED: 'ok', EXISTS: 'neutral', INVALID: 'bad' }
const mostShown = 300

/** One line per row of what was pasted: what it was read as, and what is wrong with it. Bad rows first. */
export function ImportRows({ report }: { report: ImportReport }) {
  const rows = [...report.rows].sort((a, b) => Number(b.state === 'INVALID') - Number(a.state === 'INVALID') || a.row - b.row)
  return (
    <div className="rounded-lg border border-line bg-panel">
      <div className="max-h-[420px] overflow-auto">
        <table className="w-full text-sm">
          <thead className="sticky top-0 bg-panel">
            <tr className="border-b border-line text-left text-xs text-muted">
              <th scope="col" className="h-8 w-12 px-3 font-medium">
                {t('import.row')}
              </th>
              <th scope="col" className="px-3 font-medium">
                {t('nodes.name')}
              </th>
              <th scope="col" className="px-3 font-medium">
                {t('nodes.address')}
              </th>
              <th scope="col" className="px-3 font-medium">
                {t('import.state')}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, mostShown).map((row) => (
              <tr key={`${row.row} ${row.name}`} className="border-b border-line align-top last:border-0" data-state={row.state}>
                <td className="px-3 py-1.5 text-faint tabular-nums">{row.row}</td>
                <td className="px-3 py-1.5 font-mono text-xs leading-5 break-all">
                  {row.name ?? <span className="text-muted">{row.source}</span>}
                </td>
                <td className="px-3 py-1.5 font-mono text-xs leading-5 break-all text-muted">
                  {row.host ? formatAddress(row.host, row.port ?? 22) : t('common.none')}
                </td>
                <td className="px-3 py-1.5">
                  <State tone={tones[row.state]}>{t(`importState.${row.state}`)}</State>
                  {row.issues.map((issue) => (
                    <p key={issue.path + issue.message} className="text-xs text-bad">
                      {issue.message}
                    </p>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > mostShown && (
        <p className="border-t border-line px-3 py-2 text-xs text-muted">
          {t('import.more', { count: rows.length - mostShown })}
        </p>
      )}
    </div>
  )
}
