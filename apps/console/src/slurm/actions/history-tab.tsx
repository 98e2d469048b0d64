'use client'
import { History } from 'lucide-react'
import { useConnection } from '@/graphql/use-connection.ts'
import { t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { HistoryList } from '../history-list.tsx'
import { ActionProgress, statusTones } from './action-progress.tsx'
import { ActionsQuery } from './documents.ts'

/** The actions on a cluster, newest first, with the results of each target. */
export function HistoryTab({ clusterId }: { clusterId: string }) {
  const list = useConnection('slurm-actions', ActionsQuery, { filter: { clusterId } }, (data) => data.slurmActions)
  return (
    <HistoryList
      list={list}
      label={t('slurmAction.history')}
      loadFailed={t('slurmAction.loadFailed')}
      empty={{ icon: <History aria-hidden />, title: t('slurmAction.emptyTitle'), text: t('slurmAction.emptyText') }}
      titleOf={({ verb, targetCount }) => t('slurmAction.start', { verb: t(`slurmVerb.${verb}`), count: targetCount })}
      stateOf={({ status, finishedAt }) => (
        <State tone={statusTones[status]} busy={!finishedAt}>
          {t(`slurmActionStatus.${status}`)}
        </State>
      )}
      dialogTitleOf={({ verb }) => t(`slurmVerb.${verb}`)}
      progress={(dialog) => <ActionProgress {...dialog} />}
    />
  )
}
