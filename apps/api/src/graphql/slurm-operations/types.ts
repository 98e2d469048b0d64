import type { SlurmNodeCheck, SlurmOperationStep } from '@muster/core/slurm-operations'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { SlurmCluster } from '../clusters/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { globalId } from '../shared/ids.ts'
import { SlurmCheckState, SlurmOperationKind, SlurmOperationStatus, SlurmStepState } from './enums.ts'

const SlurmOperationStepType = builder.objectRef<SlurmOperationStep>('SlurmOperationStep').implement({
  description: 'Progress of one step of an operation.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What it does.' }),
    state: t.expose('state', { type: SlurmStepState, description: 'State of the step.' }),
    message: t.exposeString('message', { nullable: true, description: 'Progress, or why it failed; null for none.' }),
    jobRunId: t.id({
      nullable: true,
      description: 'ID of its last job run; null when it starts none.',
      resolve: ({ runId }) => (runId === null ? null : globalId('JobRun', runId)),
    }),
    startedAt: t.field({ type: 'DateTime', description: 'Start.', resolve: ({ startedAt }) => new Date(startedAt) }),
    finishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'End; null before.',
      resolve: ({ finishedAt }) => (finishedAt === null ? null : new Date(finishedAt)),
    }),
  }),
})

export const SlurmNodeCheckType = builder.objectRef<SlurmNodeCheck>('SlurmNodeCheck').implement({
  description: 'A check of a node before or during an operation.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What was checked.' }),
    state: t.expose('state', { type: SlurmCheckState, description: 'Result.' }),
    message: t.exposeString('message', { description: 'What was found, and the next step after a failure.' }),
  }),
})

const SlurmOperationNode = builder.drizzleObject('slurmOperationNodes', {
  name: 'SlurmOperationNode',
  description: 'A node of an operation.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the node in Slurm, or of the host.' }),
    node: t.relation('node', { nullable: true, description: 'Its node of the inventory; null when it was deleted.' }),
    phase: t.exposeString('phase', { description: 'What the operation does with the node, or did last.' }),
    isFailed: t.exposeBoolean('isFailed', { description: 'Whether it failed.' }),
    message: t.exposeString('message', { nullable: true, description: 'Why it failed, or the last result; null for none.' }),
    checks: t.expose('checks', { type: [SlurmNodeCheckType], description: 'Checks of the node; at most 100.' }),
  }),
})
const nodeConnection = connectionTypes(SlurmOperationNode, 'SlurmOperationNode', 'nodes of an operation')

export const SlurmOperation = builder.drizzleNode('slurmOperations', {
  name: 'SlurmOperation',
  description:
    'A change of a Slurm cluster that takes minutes to days. A worker executes its steps; another one continues after its loss.',
  select: { columns: { id: true } },
  id: { column: (operation) => operation.id, description: 'ID of the operation.' },
  fields: (t) => ({
    cluster: t.relation('cluster', { description: 'Its cluster.' }),
    kind: t.expose('kind', { type: SlurmOperationKind, description: 'Kind of the operation.' }),
    status: t.expose('status', { type: SlurmOperationStatus, description: 'State of the operation.' }),
    reason: t.exposeString('reason', { description: 'Reason that the caller gave.' }),
    steps: t.expose('steps', {
      type: [SlurmOperationStepType],
      description: 'Its steps that have begun, in order; at most 100.',
    }),
    configNumber: t.exposeInt('configNumber', {
      nullable: true,
      description: 'Version of the configuration that it rolls out; null for none.',
    }),
    nodeCount: t.exposeInt('nodeCount', { description: 'Number of its nodes.' }),
    problemCount: t.exposeInt('problemCount', { description: 'Number of nodes that failed, at the end.' }),
    nodes: t.relatedConnection(
      'nodes',
      { description: 'Its nodes.', totalCount: true, query: () => ({ orderBy: { id: 'asc' as const } }), ...PAGED },
      ...nodeConnection,
    ),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed, and the next step; null otherwise.' }),
    cancelRequestedAt: t.expose('cancelRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a user canceled it; null otherwise.',
    }),
    createdBy: t.field(actorField('created', 'Actor that started it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When a worker began; null before.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'Time of the end; null before.' }),
  }),
})
const operationConnection = connectionTypes(SlurmOperation, 'SlurmOperation', 'operations on Slurm clusters')

builder.drizzleObjectField(SlurmCluster, 'operations', (t) =>
  t.relatedConnection(
    'operations',
    {
      description: 'Operations on the cluster, newest first.',
      totalCount: true,
      args: { kind: t.arg({ type: [SlurmOperationKind], description: 'Of one of these kinds; at most 500.' }) },
      query: ({ kind }) => ({ ...(kind ? { where: { kind: { in: kind } } } : {}), orderBy: { id: 'desc' as const } }),
      ...PAGED,
    },
    ...operationConnection,
  ),
)
