import { formatNumber, t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import type { BmcSearch } from './documents.ts'

const tones: Record<BmcSearch['status'], Tone> = {
  PENDING: 'neutral',
  RUNNING: 'accent',
  CANCELING: 'accent',
  SUCCEEDED: 'ok',
  FAILED: 'bad',
  CANCELED: 'neutral',
}

export const SearchBadge = ({ search }: { search: BmcSearch }) => (
  <span data-testid="bmc-search" data-status={search.status}>
    <State tone={tones[search.status]} busy={!search.finishedAt}>
      {t(`bmcSearchStatus.${search.status}`)}
    </State>
  </span>
)

const SHOWN_ADDRESSES = 3
export const addressText = ({ addresses }: BmcSearch) =>
  `${addresses.slice(0, SHOWN_ADDRESSES).join(', ')}${addresses.length > SHOWN_ADDRESSES ? ` +${addresses.length - SHOWN_ADDRESSES}` : ''}`

export const progressText = ({ probedCount, addressCount, foundCount }: BmcSearch) =>
  t('bmcSearch.progress', {
    probed: formatNumber(probedCount),
    total: formatNumber(addressCount),
    found: formatNumber(foundCount),
  })
