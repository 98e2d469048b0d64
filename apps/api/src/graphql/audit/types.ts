import type { ChainProblem, ChainVerification, AuditEntry as Row } from '@muster/core/audit'
import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { User } from '../access/people.ts'
import { connectionTypes } from '../shared/connections.ts'
import { globalId, type TypeName } from '../shared/ids.ts'
import { loader } from '../shared/loaders.ts'
import { AuditActorKind, AuditChainProblemKind, AuditChannel, AuditOutcome } from './enums.ts'

const { apiTokens } = schema

/** Types of the objects of actions, by the part of the action before the dot. */
const OBJECT_TYPES: Record<string, TypeName> = {
  agent: 'ComputeNode',
  agent_enrollment_token: 'AgentEnrollmentToken',
  agent_key: 'AgentKey',
  alert: 'Alert',
  alert_route: 'AlertRoute',
  alert_silence: 'AlertSilence',
  api_token: 'ApiToken',
  audit_sink: 'AuditSink',
  boot_profile: 'BootProfile',
  credential: 'Credential',
  credential_rotation: 'Credential',
  invitation: 'Invitation',
  job_artifact: 'JobArtifact',
  job_run: 'JobRun',
  job_template: 'JobTemplate',
  member: 'Member',
  node: 'ComputeNode',
  node_group: 'NodeGroup',
  openchami_target: 'OpenchamiTarget',
  playbook_bundle: 'PlaybookBundle',
  schedule: 'Schedule',
  secret_store: 'SecretStore',
  slurm_cluster: 'SlurmCluster',
  slurm_config: 'SlurmConfigVersion',
  slurm_config_snippet: 'SlurmConfigSnippet',
  slurm_controller: 'ComputeNode',
  slurm_node: 'SlurmNode',
  slurm_operation: 'SlurmOperation',
  trigger: 'Trigger',
}

function objectIdOf({ action, objectId }: Pick<Row, 'action' | 'objectId'>): string | null {
  const type = OBJECT_TYPES[action.split('.')[0]!]
  return objectId && type ? globalId(type, objectId) : null
}

type Change = { field: string; before: string | null; after: string | null }

const AuditChange = builder.objectRef<Change>('AuditChange').implement({
  description: 'A field that an action changed.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Name of the field.' }),
    before: t.exposeString('before', { nullable: true, description: 'Previous value as JSON; null when there was none.' }),
    after: t.exposeString('after', { nullable: true, description: 'New value as JSON; null when there is none.' }),
  }),
})

const AuditDetail = builder.objectRef<{ name: string; value: string }>('AuditDetail').implement({
  description: 'A fact about an action.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    value: t.exposeString('value', { description: 'Value as JSON.' }),
  }),
})

const jsonText = (row: Record<string, unknown> | null, field: string): string | null =>
  row && field in row ? JSON.stringify(row[field]) : null

const ownerOfToken = loader<string>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ id: apiTokens.id, ownerId: apiTokens.ownerId })
    .from(apiTokens)
    .where(and(visibleTo(ctx, apiTokens), isOneOf(apiTokens.id, [...ids])))
  return new Map(rows.map(({ id, ownerId }) => [id, ownerId]))
})

export const AuditEntry = builder.drizzleObject('auditEntries', {
  name: 'AuditEntry',
  description: 'An entry of the audit log: who did what to which object. It never changes.',
  select: { columns: { id: true, action: true, objectId: true, actorKind: true, actorId: true } },
  fields: (t) => ({
    entryId: t.exposeString('id', { description: 'UUID of the entry. UUIDs of later entries are greater.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the action was recorded.' }),
    action: t.exposeString('action', { description: 'Action, for example `job_run.cancel`.' }),
    outcome: t.expose('outcome', { type: AuditOutcome, description: 'Outcome.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why the action was not performed; null when it succeeded.' }),
    count: t.exposeInt('count', {
      description: 'Number of attempts that the entry represents. More than 1 when an address made too many in one minute.',
    }),
    actorKind: t.expose('actorKind', { type: AuditActorKind, description: 'Kind of the actor.' }),
    actorName: t.exposeString('actorName', { description: 'Name of the user, API token, agent or process at that time.' }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user, or the owner of the API token; null for other actors and when the user was deleted.',
      resolve: async ({ actorKind, actorId }, _args, context) => {
        const id = actorKind === 'token' && actorId ? await ownerOfToken(context, actorId) : actorKind === 'user' ? actorId : null
        return id ? ({ id } as never) : null
      },
    }),
    sessionId: t.exposeString('sessionId', { nullable: true, description: 'Identifies the session; null without one.' }),
    channel: t.expose('channel', { type: AuditChannel, description: 'Interface that the actor used.' }),
    userAgent: t.exposeString('userAgent', {
      nullable: true,
      description: 'User-Agent header of the client; null when it sent none.',
    }),
    address: t.exposeString('address', { nullable: true, description: 'Network address of the client; null without a client.' }),
    permission: t.exposeString('permission', {
      nullable: true,
      description: 'Permission that the action required, for example `node:purge`; null when it required none.',
    }),
    objectId: t.id({
      nullable: true,
      description: 'ID of the object; null when there is none, or when its type has no ID. The object may have been deleted.',
      resolve: objectIdOf,
    }),
    objectName: t.exposeString('objectName', {
      nullable: true,
      description: 'Name of the object at that time; null when it has none.',
    }),
    changes: t.field({
      type: [AuditChange],
      description: 'Changed fields with secrets masked, at most 500.',
      select: { columns: { before: true, after: true } },
      resolve: ({ before, after }) =>
        [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].slice(0, 500).map((field) => ({
          field,
          before: jsonText(before, field),
          after: jsonText(after, field),
        })),
    }),
    details: t.field({
      type: [AuditDetail],
      description: 'Further facts, by action; at most 100.',
      select: { columns: { details: true } },
      resolve: ({ details }) =>
        Object.entries(details)
          .slice(0, 100)
          .map(([name, value]) => ({ name, value: JSON.stringify(value) })),
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Reason that the actor gave; null without one.' }),
    requestId: t.exposeString('requestId', {
      nullable: true,
      description: 'ID of the request in the log of the API; null for actions without a request.',
    }),
    runId: t.id({
      nullable: true,
      description: 'ID of the run on whose behalf a worker acted; null for other actions.',
      select: { columns: { runId: true } },
      resolve: ({ runId }) => (runId ? globalId('JobRun', runId) : null),
    }),
    seq: t.expose('seq', {
      type: 'BigInt',
      nullable: true,
      description: 'Position in the chain, from 1; null until the entry is sealed, usually within five seconds.',
    }),
    hash: t.exposeString('hash', { nullable: true, description: 'Chain hash, hexadecimal; null until the entry is sealed.' }),
  }),
})

export const auditEntryConnection = connectionTypes(AuditEntry, 'AuditEntry', 'audit entries')

const AuditChainProblem = builder.objectRef<ChainProblem>('AuditChainProblem').implement({
  description: 'A problem in the chain of audit entries.',
  fields: (t) => ({
    kind: t.expose('kind', { type: AuditChainProblemKind, description: 'Kind of the problem.' }),
    firstSeq: t.field({ type: 'BigInt', description: 'First affected position.', resolve: ({ seq }) => seq }),
    lastSeq: t.expose('lastSeq', { type: 'BigInt', description: 'Last affected position.' }),
    entryId: t.exposeString('entryId', { nullable: true, description: 'UUID of the entry; null when it is missing.' }),
  }),
})

export const AuditChainVerification = builder.objectRef<ChainVerification>('AuditChainVerification').implement({
  description: 'Result of the verification of a part of the chain of audit entries.',
  fields: (t) => ({
    isValid: t.boolean({ description: 'Whether the part has no problem.', resolve: ({ problems }) => problems.length === 0 }),
    problems: t.expose('problems', {
      type: [AuditChainProblem],
      description: 'Problems in the order of positions, at most 100.',
    }),
    afterSeq: t.expose('after', {
      type: 'BigInt',
      description: 'Position after which the part starts. Retention deleted the entries up to it, or the caller chose it.',
    }),
    lastSeq: t.expose('lastSeq', { type: 'BigInt', description: 'Last position of the part.' }),
    lastHash: t.exposeString('lastHash', {
      description: 'Hash at `lastSeq`. Store both outside of Muster; pass them later as `expectedSeq` and `expectedHash`.',
    }),
    checkedCount: t.exposeInt('checkedCount', { description: 'Number of verified entries.' }),
    hasMore: t.exposeBoolean('hasMore', { description: 'Whether entries follow. Verify them with `afterSeq: lastSeq`.' }),
    unsealedCount: t.exposeInt('unsealedCount', {
      description: 'Number of entries that are not part of the chain yet. A worker seals them within five seconds.',
    }),
    oldestUnsealedAt: t.expose('oldestUnsealedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest unsealed entry was written; null when all are sealed.',
    }),
  }),
})
