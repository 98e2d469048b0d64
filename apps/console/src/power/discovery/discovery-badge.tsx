import { formatNumber, t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import type { BmcDiscovery } from './documents.ts'

const tones: Record<BmcDiscovery['status'], Tone> = {
  PENDING: 'neutral',
  RUNNING: 'accent',
  CANCELING: 'accent',
  SUCCEEDED: 'ok',
  FAILED: 'bad',
  CANCELED: 'neutral',
}

export const DiscoveryBadge = ({ discovery }: { discovery: BmcDiscovery }) => (
  <span data-testid="bmc-discovery" data-status={discovery.status}>
    <State tone={tones[discovery.status]} busy={!discovery.finishedAt}>
      {t(`bmcDiscoveryStatus.${discovery.status}`)}
    </State>
  </span>
)

const SHOWN_ADDRESSES = 3
export const addressText = ({ addresses }: BmcDiscovery) =>
  `${addresses.slice(0, SHOWN_ADDRESSES).join(', ')}${addresses.length > SHOWN_ADDRESSES ? ` +${addresses.length - SHOWN_ADDRESSES}` : ''}`

export const progressText = ({ probedCount, addressCount, foundCount }: BmcDiscovery) =>
  t('bmcDiscovery.progress', {
    probed: formatNumber(probedCount),
    total: formatNumber(addressCount),
    found: formatNumber(foundCount),
  })
