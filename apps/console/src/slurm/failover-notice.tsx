import { t } from '@/messages/index.ts'
import { Notice } from '@/ui/notice.tsx'
import type { ClusterPage } from './cluster-documents.ts'

/** Which controller answers when it is not the primary one, and through which node the cluster was read when it is the backup. */
export function FailoverNotice({ cluster: { state, controllers, readNode, fallbackReason } }: { cluster: ClusterPage }) {
  const [primary, ...backups] = controllers
  const inControl = primary && !primary.isUp ? backups.find(({ isUp }) => isUp) : undefined
  if (state !== 'OK' || (!inControl && !fallbackReason)) return null
  return (
    <div className="mb-4" data-testid="slurm-failover">
      <Notice tone="warn">
        {inControl && <p>{t('slurm.backupAnswers', { primary: primary!.hostname, backup: inControl.hostname })}</p>}
        {fallbackReason && <p>{t('slurm.readThrough', { node: readNode?.name ?? t('common.none'), reason: fallbackReason })}</p>}
      </Notice>
    </div>
  )
}
