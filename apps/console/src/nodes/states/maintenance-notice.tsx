import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Notice } from '@/ui/notice.tsx'
import type { NodeHead } from '../node-documents.ts'

type Props = { node: Pick<NodeHead, 'statusReason' | 'maintenanceStartedAt' | 'maintenanceEndsAt' | 'maintenanceStartedByName'> }

/** Who put a node into maintenance, why, and when it ends. */
export function MaintenanceNotice({ node }: Props) {
  const { statusReason, maintenanceStartedAt, maintenanceEndsAt, maintenanceStartedByName } = node
  const name = maintenanceStartedByName ?? t('common.none')
  return (
    <div className="mb-4">
      <Notice
        tone="info"
        title={
          maintenanceEndsAt
            ? t('nodeState.inMaintenanceUntil', { time: formatDateTime(maintenanceEndsAt) })
            : t('nodeState.inMaintenance')
        }
      >
        {statusReason && <p>{statusReason}</p>}
        {maintenanceStartedAt && <p>{t('nodeState.startedBy', { name, time: formatDateTime(maintenanceStartedAt) })}</p>}
      </Notice>
    </div>
  )
}
