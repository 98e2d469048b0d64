import { nodeDifferences, type SlurmNodeRow } from '@muster/core/clusters'
import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { SlurmNodeDifferenceKind, SlurmNodeMatch, SlurmNodeMatchState } from './enums.ts'
import { SlurmGres, withUse } from './gres.ts'
import { SlurmTres, toInt, tresList } from './reports.ts'

const { accelerators, computeNodes } = schema

const acceleratorsOf = loader<(typeof accelerators.$inferSelect)[]>(async ({ ctx }, nodeIds) => {
  const rows = await ctx.db
    .select()
    .from(accelerators)
    .where(and(visibleTo(ctx, accelerators), isOneOf(accelerators.nodeId, [...nodeIds])))
  return Map.groupBy(rows, ({ nodeId }) => nodeId)
})

/** IDs of the nodes that exist: candidates of a match may be deleted. */
const existing = loader<string>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, [...ids])))
  return new Map(rows.map(({ id }) => [id, id]))
})

const SlurmNodeDifference = builder.objectRef<ReturnType<typeof nodeDifferences>[number]>('SlurmNodeDifference').implement({
  description: 'A difference between what Slurm configures for a node and what Muster discovered on it.',
  fields: (t) => ({
    kind: t.expose('kind', { type: SlurmNodeDifferenceKind, description: 'Kind.' }),
    configured: t.exposeString('configured', { description: 'What Slurm configures.' }),
    discovered: t.exposeString('discovered', { description: 'What Muster discovered.' }),
  }),
})

type Report = SlurmNodeRow['report']

export const SlurmNode = builder.drizzleNode('slurmNodes', {
  name: 'SlurmNode',
  description: 'A node of a Slurm cluster, as slurmctld reported it when the cluster was last read.',
  select: { columns: { id: true } },
  id: { column: (n) => n.id },
  fields: (t) => {
    const select = { columns: { report: true } } as const
    const text = (name: 'hostname' | 'address', description: string) =>
      t.string({ description, select, resolve: ({ report }) => report[name] })
    const maybe = (
      name: 'reservation' | 'reason' | 'reasonUser' | 'comment' | 'version' | 'architecture' | 'operatingSystem',
      description: string,
    ) => t.string({ nullable: true, description, select, resolve: ({ report }) => report[name] })
    const number = (name: Exclude<NumbersOf<Report>, 'cpus' | 'allocatedCpus'>, description: string) =>
      t.int({ description, select, resolve: ({ report }) => toInt(report[name]) })
    const time = (name: 'reasonAt' | 'bootAt' | 'slurmdStartedAt' | 'lastBusyAt', description: string) =>
      t.field({ type: 'DateTime', nullable: true, description, select, resolve: ({ report }) => report[name] })
    const words = (name: 'features' | 'activeFeatures', description: string) =>
      t.stringList({ description, select, resolve: ({ report }) => report[name].slice(0, 1000) })
    return {
      cluster: t.relation('cluster', { description: 'Its cluster.' }),
      name: t.exposeString('name', { description: 'NodeName, unique in the cluster.' }),
      hostname: text('hostname', 'NodeHostName.'),
      address: text('address', 'NodeAddr: an address or a host name.'),
      state: t.exposeString('state', {
        description:
          'The state as sinfo shows it, for example `DRAINING`, with its suffix: `IDLE*` does not respond, `IDLE~` is powered down.',
      }),
      states: t.exposeStringList('states', {
        description: "Slurm's words: the base state, then all flags, for example `MIXED`, `DRAIN`. At most 50.",
      }),
      partitions: t.exposeStringList('partitions', { description: 'Names of its partitions; at most 1,000.' }),
      reservation: maybe('reservation', 'Name of the reservation that includes it now; null for none.'),
      reason: maybe('reason', 'Why it is drained or down; null for none.'),
      reasonUser: maybe('reasonUser', 'Who set the reason; null when unknown.'),
      reasonAt: time('reasonAt', 'When the reason was set.'),
      comment: maybe('comment', 'Comment; null for none.'),
      slurmdVersion: maybe('version', 'Version of slurmd; null for a node that never registered.'),
      architecture: maybe('architecture', 'Architecture, for example `x86_64`; null for a node that never registered.'),
      operatingSystem: maybe('operatingSystem', 'Operating system as slurmd reports it; null when unknown.'),
      cpus: t.exposeInt('cpus', { description: 'Configured CPUs.' }),
      allocatedCpus: t.exposeInt('allocatedCpus', { description: 'CPUs that are allocated to jobs.' }),
      sockets: number('sockets', 'Sockets.'),
      coresPerSocket: number('coresPerSocket', 'Cores of a socket.'),
      threadsPerCore: number('threadsPerCore', 'Threads of a core.'),
      cpuLoad: t.float({
        nullable: true,
        description: 'Load average over one minute; null when the node does not respond.',
        select,
        resolve: ({ report }) => report.cpuLoad,
      }),
      memoryMiB: number('memory', 'Configured memory in MiB.'),
      allocatedMemoryMiB: number('allocatedMemory', 'Memory that is allocated to jobs, in MiB.'),
      freeMemoryMiB: t.int({
        nullable: true,
        description: 'Free memory in MiB as the operating system reports it; null when unknown.',
        select,
        resolve: ({ report: { freeMemory } }) => (freeMemory === null ? null : toInt(freeMemory)),
      }),
      gpus: t.exposeInt('gpus', { description: 'Configured GPUs; a MIG device counts as one.' }),
      allocatedGpus: t.exposeInt('allocatedGpus', { description: 'GPUs that are allocated to jobs.' }),
      gres: t.field({
        type: [SlurmGres],
        description: 'Configured generic resources and their use; at most 100.',
        select,
        resolve: ({ report }) => withUse(report.gres, report.gresUsed),
      }),
      tres: t.field({
        type: [SlurmTres],
        description: 'Configured trackable resources; at most 100.',
        select,
        resolve: ({ report }) => tresList(report.tres),
      }),
      features: words('features', 'Available features; at most 1,000.'),
      activeFeatures: words('activeFeatures', 'Active features; at most 1,000.'),
      weight: number('weight', 'Scheduling weight: nodes with a lower one are allocated first.'),
      bootAt: time('bootAt', 'Boot time; null for a node that never registered.'),
      slurmdStartedAt: time('slurmdStartedAt', 'Start of slurmd; null for a node that never registered.'),
      lastBusyAt: time('lastBusyAt', 'When it last ran a job; null when unknown.'),
      node: t.relation('node', {
        nullable: true,
        description: 'The same machine in the inventory, with its discovered accelerators; null when none is matched.',
      }),
      match: t.field({
        type: SlurmNodeMatchState,
        description: 'Whether it is a node of the inventory.',
        select: { columns: { nodeId: true, matchConflict: true } },
        resolve: ({ nodeId, matchConflict }) => (nodeId ? 'MATCHED' : matchConflict ? 'CONFLICT' : 'UNMATCHED'),
      }),
      matchedBy: t.expose('matchedBy', {
        type: SlurmNodeMatch,
        nullable: true,
        description: 'How it was matched. MANUAL without `node`: a person chose none. Null when no one did and nothing fits.',
      }),
      matchConflict: t.exposeString('matchConflict', {
        nullable: true,
        description:
          'Why a person must choose the node: several fit, or the one that fits belongs to another cluster. Else null.',
      }),
      matchCandidates: t.field({
        type: [ComputeNode],
        description: 'The nodes that fit, if a person must choose; at most 10.',
        select: { columns: { candidateIds: true } },
        resolve: async ({ candidateIds }, _args, context) => {
          const ids = await Promise.all(candidateIds.map((id) => existing(context, id)))
          return ids.filter((id) => id !== undefined).map((id) => ({ id }) as typeof ComputeNode.$inferType)
        },
      }),
      differences: t.field({
        type: [SlurmNodeDifference],
        description: 'What Slurm configures differently from what Muster discovered; at most 20. Empty without a discovery.',
        select: {
          columns: { report: true, nodeId: true },
          with: { node: { columns: { discoveredAt: true, cpuThreads: true, cpuCores: true, memoryBytes: true } } },
        },
        resolve: async ({ report, nodeId, node }, _args, context) =>
          node && nodeId ? nodeDifferences(report, node, (await acceleratorsOf(context, nodeId)) ?? []) : [],
      }),
    }
  },
})

/** Names of the numbers of a report. */
type NumbersOf<T> = { [K in keyof T]: T[K] extends number ? K : never }[keyof T]

export const slurmNodeConnection = connectionTypes(SlurmNode, 'SlurmNode', 'nodes of Slurm clusters')

builder.drizzleObjectFields(ComputeNode, (t) => ({
  slurmNodes: t.relation('slurmNodes', {
    description: 'The nodes of a Slurm cluster that are this machine; at most 100. Several slurmd can share a machine.',
    query: { limit: 100, orderBy: { name: 'asc' } },
  }),
}))
