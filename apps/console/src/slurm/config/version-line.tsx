import { t } from '@/messages/index.ts'
import { Badge, State } from '@/ui/badge.tsx'
import { HistoryLine } from '../history-line.tsx'
import type { VersionRow } from './documents.ts'

/** A version in the list. */
export const VersionLine = ({ version, isCurrent, onOpen }: { version: VersionRow; isCurrent: boolean; onOpen: () => void }) => (
  <HistoryLine
    title={t('slurmConfig.version', { number: String(version.number) })}
    badge={<Badge>{t(`slurmConfigOrigin.${version.origin}`)}</Badge>}
    state={isCurrent && <State tone="ok">{t('slurmConfig.isCurrent')}</State>}
    row={version}
    onOpen={onOpen}
  />
)
