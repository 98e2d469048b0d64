'use client'
import { Workflow } from 'lucide-react'
import { useConnection } from '@/graphql/use-connection.ts'
import { t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { HistoryList } from '../history-list.tsx'
import { OperationsQuery } from './documents.ts'
import { OperationProgress, operationTones } from './operation-progress.tsx'

const emptyPage = { edges: [], pageInfo: { hasNextPage: false, endCursor: null }, totalCount: 0 }

/** The operations on a cluster, newest first, with the progress of each. */
export function OperationsTab({ clusterId }: { clusterId: string }) {
  const list = useConnection(
    'slurm-operations',
    OperationsQuery,
    { id: clusterId },
    (data) => data.slurmCluster?.operations ?? emptyPage,
  )
  return (
    <HistoryList
      list={list}
      label={t('slurmScale.operations')}
      loadFailed={t('slurmScale.loadFailed')}
      empty={{ icon: <Workflow aria-hidden />, title: t('slurmScale.emptyTitle'), text: t('slurmScale.emptyText') }}
      titleOf={({ kind, nodeCount }) => `${t(`slurmOperationKind.${kind}`)}: ${t('slurm.nodeCount', { count: nodeCount })}`}
      stateOf={({ status, finishedAt }) => (
        <State tone={operationTones[status]} busy={!finishedAt}>
          {t(`slurmOperationStatus.${status}`)}
        </State>
      )}
      dialogTitleOf={({ kind }) => t(`slurmOperationKind.${kind}`)}
      progress={(dialog) => <OperationProgress {...dialog} />}
    />
  )
}
