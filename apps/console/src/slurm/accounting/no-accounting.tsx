import { DatabaseZap } from 'lucide-react'
import { t } from '@/messages/index.ts'
import { ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { clusterHref } from '../cluster-card.tsx'

/** A cluster that records no jobs: the reason, and where recent jobs are. */
export function NoAccounting({ clusterId, message }: { clusterId: string; message: string }) {
  return (
    <Empty
      icon={<DatabaseZap aria-hidden />}
      title={t('slurmHistory.noAccountingTitle')}
      action={<ButtonLink href={`${clusterHref(clusterId)}?tab=jobs`}>{t('slurmHistory.openQueue')}</ButtonLink>}
    >
      <p>{message}</p>
      <p>{t('slurmHistory.noAccountingText')}</p>
    </Empty>
  )
}
