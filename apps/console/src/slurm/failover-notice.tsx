import { t } from '@/messages/index.ts'
import { Notice } from '@/ui/notice.tsx'
import type { ClusterPage } from './cluster-documents.ts'

/** Which controller answers when it is not the primary one, and what replaced the controller's node or slurmrestd in the last refresh. */
export function FailoverNotice({ cluster }: { cluster: ClusterPage }) {
  const { state, controllers, readNode, fallbackReason, slurmrestdProblem } = cluster
  const [primary, ...backups] = controllers
  const inControl = primary && !primary.isUp ? backups.find(({ isUp }) => isUp) : undefined
  if (state !== 'OK' || (!inControl && !fallbackReason && !slurmrestdProblem)) return null
  return (
    <div className="mb-4" data-testid="slurm-failover">
      <Notice tone="warn">
        {inControl && <p>{t('slurm.backupAnswers', { primary: primary!.hostname, backup: inControl.hostname })}</p>}
        {fallbackReason && <p>{t('slurm.readThrough', { node: readNode?.name ?? t('common.none'), reason: fallbackReason })}</p>}
        {slurmrestdProblem && <p>{t('slurmrestd.problem', { reason: slurmrestdProblem })}</p>}
      </Notice>
    </div>
  )
}
