import { formatNumber, t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import type { ClusterPage } from './cluster-documents.ts'

/** The licenses of a cluster. The tab is shown only when there are some. */
export function LicensesTab({ licenses }: { licenses: ClusterPage['licenses'] }) {
  return (
    <ul className="flex flex-col rounded-lg border border-line bg-panel" aria-label={t('slurmLicense.title')}>
      {licenses.map(({ name, total, used, free, reserved, isRemote }) => (
        <li key={name} className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-3 text-sm last:border-0">
          <span className="font-mono font-medium wrap-anywhere">{name}</span>
          {isRemote && <Badge>{t('slurmLicense.remote')}</Badge>}
          <span className="ml-auto text-xs text-muted">
            {t('slurmLicense.use', {
              used: formatNumber(used),
              total: formatNumber(total),
              free: formatNumber(free),
              reserved: formatNumber(reserved),
            })}
          </span>
        </li>
      ))}
    </ul>
  )
}
