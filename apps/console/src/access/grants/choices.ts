import { useEffect } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import type { Problem } from '@/graphql/use-mutation.ts'
import type { Choice } from '@/ui/choice-field.tsx'
import {
  ClusterChoicesQuery,
  CredentialChoicesQuery,
  MemberChoicesQuery,
  NodeGroupChoicesQuery,
  PartitionChoicesQuery,
  TemplateChoicesQuery,
} from './grant-documents.ts'

type List<T> = { rows: T[]; hasMore: boolean; more: () => void; problem: Problem | null }
export type Choices = { choices: Choice[]; problem: Problem | null }

/** The rows of a list as choices. The remaining pages are read one after the other. */
function useChoices<T extends { id: string }>(
  { rows, hasMore, more, problem }: List<T>,
  labelOf: (row: T) => string,
  isChoice: (row: T) => boolean = () => true,
): Choices {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that arrives requests the next one
  useEffect(() => {
    if (hasMore) more()
  }, [rows, hasMore, more])
  return { choices: rows.filter(isChoice).map((row) => ({ id: row.id, label: labelOf(row) })), problem }
}

export const useMemberChoices = () =>
  useChoices(
    useConnection('member-choices', MemberChoicesQuery, {}, (data) => data.members),
    ({ user }) => (user.isServiceAccount ? user.name : `${user.name} (${user.email})`),
  )

export const useServiceAccountChoices = () =>
  useChoices(
    useConnection('member-choices', MemberChoicesQuery, {}, (data) => data.members),
    ({ user }) => user.name,
    ({ user }) => user.isServiceAccount,
  )

export const useNodeGroupChoices = () =>
  useChoices(
    useConnection('group-choices', NodeGroupChoicesQuery, {}, (data) => data.nodeGroups),
    ({ name }) => name,
  )

export const useTemplateChoices = () =>
  useChoices(
    useConnection('template-choices', TemplateChoicesQuery, {}, (data) => data.jobTemplates),
    ({ name, displayName }) => displayName ?? name,
  )

export const useCredentialChoices = () =>
  useChoices(
    useConnection('credential-choices', CredentialChoicesQuery, {}, (data) => data.credentials),
    ({ name }) => name,
  )

export const useClusterChoices = () =>
  useChoices(
    useConnection('cluster-choices', ClusterChoicesQuery, {}, (data) => data.slurmClusters),
    ({ name }) => name,
  )

const NO_PARTITIONS = { edges: [], pageInfo: { hasNextPage: false, endCursor: null } }

/** Partitions of a cluster; a choice is identified by the name. */
export function usePartitionChoices(clusterId: string): Choices {
  const { choices, problem } = useChoices(
    useConnection(
      'partition-choices',
      PartitionChoicesQuery,
      { id: clusterId },
      (data) => data.slurmCluster?.partitions ?? NO_PARTITIONS,
    ),
    ({ name }) => name,
  )
  return { choices: choices.map(({ label }) => ({ id: label, label })), problem }
}
