import { isOneOf } from '@muster/core/db'
import { InvalidInput } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { expandHostlist } from '@muster/core/selection'
import { and, arrayOverlaps, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { contains } from '../shared/contains.ts'
import { SlurmClusterKind, SlurmClusterState, SlurmNodeMatchState } from './enums.ts'

const { slurmClusters, slurmJobs, slurmNodes } = schema

export const SlurmClusterFilter = builder.inputType('SlurmClusterFilter', {
  description: 'Filter of Slurm clusters. A cluster must match all fields that are given.',
  fields: (t) => ({
    kind: t.field({ type: [SlurmClusterKind], description: 'One of these kinds; at most 500.' }),
    state: t.field({ type: [SlurmClusterState], description: 'One of these states; at most 500.' }),
    region: t.stringList({ description: 'One of these regions; at most 500.' }),
    search: t.string({ description: 'Name, ClusterName or region contain this text, case-insensitive.' }),
  }),
})

export function clusterConditions(
  filter: typeof SlurmClusterFilter.$inferInput | null | undefined,
  c: typeof slurmClusters,
): SQL | undefined {
  if (!filter) return undefined
  const { kind, state, region, search } = filter
  return and(
    kind ? isOneOf(c.kind, kind, 'text') : undefined,
    state ? isOneOf(c.state, state, 'text') : undefined,
    region ? isOneOf(c.region, region, 'text') : undefined,
    search ? or(...[c.name, c.clusterName, c.region].map((column) => contains(column, search))) : undefined,
  )
}

export const SlurmNodeFilter = builder.inputType('SlurmNodeFilter', {
  description: 'Filter of nodes of a Slurm cluster. A node must match all fields that are given.',
  fields: (t) => ({
    state: t.stringList({
      description:
        "One of these of Slurm's words, at most 500: the shown state, or a flag. A state without a suffix also finds those with one: `IDLE` finds `IDLE*`, but no node that is drained.",
    }),
    partition: t.stringList({ description: 'In one of these partitions; at most 500.' }),
    hostlist: t.string({ description: 'One of the names of this hostlist, for example `gpu[001-064],cpu1`.' }),
    search: t.string({ description: 'Name, address or reason contain this text, case-insensitive.' }),
    match: t.field({ type: [SlurmNodeMatchState], description: 'One of these; at most 500.' }),
  }),
})

const upper = (words: string[]) => words.map((word) => word.toUpperCase())

/** As `hasNodeState`. */
const hasState = (n: typeof slurmNodes, words: string[]) =>
  or(
    isOneOf(n.state, words, 'text'),
    sql`regexp_replace(${n.state}, '[$^@#%~!*+-]$', '') = any(${sql.param(words)}::text[])`,
    sql`${n.states}[2:] && ${sql.param(words)}::text[]`,
  )

/** @throws InvalidInput for an invalid hostlist */
export function nodeConditions(
  filter: typeof SlurmNodeFilter.$inferInput | null | undefined,
  n: typeof slurmNodes,
): SQL | undefined {
  if (!filter) return undefined
  const { state, partition, hostlist, search, match } = filter
  const matches = {
    MATCHED: isNotNull(n.nodeId),
    UNMATCHED: and(isNull(n.nodeId), isNull(n.matchConflict)),
    CONFLICT: and(isNull(n.nodeId), isNotNull(n.matchConflict)),
  }
  return and(
    state ? hasState(n, upper(state)) : undefined,
    partition ? arrayOverlaps(n.partitions, partition) : undefined,
    hostlist ? isOneOf(n.name, names(hostlist), 'text') : undefined,
    search
      ? or(...[n.name, sql`${n.report} ->> 'address'`, sql`${n.report} ->> 'reason'`].map((column) => contains(column, search)))
      : undefined,
    match ? or(sql`false`, ...match.map((one) => matches[one])) : undefined,
  )
}

export const SlurmJobFilter = builder.inputType('SlurmJobFilter', {
  description: 'Filter of jobs of a Slurm cluster. A job must match all fields that are given.',
  fields: (t) => ({
    state: t.stringList({ description: "One of these of Slurm's words for the base state, for example `PENDING`; at most 500." }),
    jobId: t.stringList({ description: 'One of these IDs, as squeue shows them; at most 500.' }),
    user: t.stringList({ description: 'Of one of these users; at most 500.' }),
    partition: t.stringList({ description: 'In one of these partitions; at most 500.' }),
    reason: t.stringList({ description: "One of these of Slurm's words for the reason; at most 500." }),
    node: t.string({ description: 'Allocated a node of this hostlist.' }),
    search: t.string({ description: 'ID, name, user or account contain this text, case-insensitive.' }),
  }),
})

/** @throws InvalidInput for an invalid hostlist */
export function jobConditions(
  filter: typeof SlurmJobFilter.$inferInput | null | undefined,
  j: typeof slurmJobs,
): SQL | undefined {
  if (!filter) return undefined
  const { state, jobId, user, partition, reason, node, search } = filter
  return and(
    state ? isOneOf(j.state, upper(state), 'text') : undefined,
    jobId ? isOneOf(j.jobId, jobId, 'text') : undefined,
    user ? isOneOf(j.userName, user, 'text') : undefined,
    partition ? sql`string_to_array(${j.partition}, ',') && ${sql.param(partition)}::text[]` : undefined,
    reason ? isOneOf(j.reason, reason, 'text') : undefined,
    node ? arrayOverlaps(j.nodeNames, names(node, 'filter.node')) : undefined,
    search
      ? or(
          ...[j.jobId, j.userName, sql`${j.report} ->> 'name'`, sql`${j.report} ->> 'account'`].map((column) =>
            contains(column, search),
          ),
        )
      : undefined,
  )
}

function names(hostlist: string, path = 'filter.hostlist'): string[] {
  try {
    return expandHostlist(hostlist)
  } catch (error) {
    if (error instanceof InvalidInput) throw new InvalidInput(error.issues.map((issue) => ({ ...issue, path })))
    throw error
  }
}
