import {
  type CheckMode,
  type Difference,
  type TargetMode,
  targetState,
  targetWriteBlockedReason,
  textOf,
} from '@muster/core/openchami'
import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

const CHECKS = {
  REPORT: 'Compares, and writes nothing.',
  PUSH: 'Compares, then writes what is missing or different. What only the services have stays.',
} satisfies Record<CheckMode, string>
export const OpenchamiCheckMode = builder.enumType('OpenchamiCheckMode', {
  description: 'What a check of the OpenCHAMI target does.',
  values: same(CHECKS),
})

export const OpenchamiTargetMode = builder.enumType('OpenchamiTargetMode', {
  description: 'What periodic checks of the OpenCHAMI target do.',
  values: same({ OFF: 'There are none; a check can be requested.', ...CHECKS } satisfies Record<TargetMode, string>),
})

const OpenchamiTargetState = builder.enumType('OpenchamiTargetState', {
  description: 'Result of the last check of the OpenCHAMI target.',
  values: same({
    PENDING: 'The first check since the target was set has not ended.',
    IN_SYNC: 'The services have what the tenant has.',
    DRIFT: 'Objects are missing or different.',
    FAILING: 'A service does not answer, or refused a request.',
  } satisfies Record<ReturnType<typeof targetState>, string>),
})

const DifferenceState = builder.enumType('OpenchamiDifferenceState', {
  description: 'How an object of the services differs.',
  values: same({
    MISSING: 'The service does not have it.',
    DIFFERENT: 'Fields differ.',
    EXTRA: 'Only the service has it. A push leaves it.',
  } satisfies Record<Difference['state'], string>),
})

const OpenchamiFieldDifference = builder.objectRef<Difference['fields'][number]>('OpenchamiFieldDifference').implement({
  description: 'A field that differs. Elements of lists are sorted, with spaces between them.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Name of the field in the service.' }),
    theirs: t.string({
      nullable: true,
      description: 'Value in the service; null when it has none.',
      resolve: ({ theirs }) => (theirs === null ? null : textOf(theirs)),
    }),
    ours: t.string({
      nullable: true,
      description: 'Value that the tenant wants; null when it wants none.',
      resolve: ({ ours }) => (ours === null ? null : textOf(ours)),
    }),
  }),
})

const OpenchamiDifference = builder.objectRef<Difference>('OpenchamiDifference').implement({
  description: 'An object that the tenant and a service of OpenCHAMI do not have alike.',
  fields: (t) => ({
    object: t.exposeString('object', { description: 'Kind and name, for example `component x1000c0s0b0n0`.' }),
    state: t.expose('state', { type: DifferenceState, description: 'How it differs.' }),
    fields: t.field({
      type: [OpenchamiFieldDifference],
      description: 'The fields that differ; at most 5.',
      resolve: ({ fields }) => fields,
    }),
  }),
})

export const OpenchamiTarget = builder.drizzleNode('openchamiTargets', {
  name: 'OpenchamiTarget',
  description:
    'An SMD and a BSS of OpenCHAMI that workers compare with the nodes, interfaces, groups and boot parameters of the tenant.',
  select: { columns: { id: true } },
  id: { column: (target) => target.id, description: 'ID of the target.' },
  fields: (t) => ({
    smdUrl: t.exposeString('smdUrl', { nullable: true, description: 'Address of SMD, without `/hsm/v2`; null without one.' }),
    bssUrl: t.exposeString('bssUrl', { nullable: true, description: 'Address of BSS, without `/boot/v1`; null without one.' }),
    hasToken: t.boolean({
      description: 'Whether requests have a JWT. It is never returned.',
      select: { columns: { encrypted: true } },
      resolve: ({ encrypted }) => Boolean(encrypted.token),
    }),
    caCertificate: t.exposeString('caCertificate', {
      nullable: true,
      description: 'The only accepted certificate authorities, in PEM; null: those that the worker trusts.',
    }),
    mode: t.expose('mode', { type: OpenchamiTargetMode, description: 'What periodic checks do.' }),
    intervalSeconds: t.exposeInt('intervalSeconds', { description: 'Time between two checks, in seconds.' }),
    state: t.field({
      type: OpenchamiTargetState,
      description: 'Result of the last check.',
      select: { columns: { checkedAt: true, error: true, driftSince: true } },
      resolve: (target) => targetState(target),
    }),
    isCheckPending: t.boolean({
      description: 'Whether a requested check has not ended.',
      select: { columns: { requestedAt: true } },
      resolve: ({ requestedAt }) => requestedAt !== null,
    }),
    checkedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last check ended; null before the first one.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why the last check failed; null when it succeeded.' }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when checks fail; null when the last one succeeded.',
    }),
    driftSince: t.expose('driftSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when checks find objects that are missing or different; null when there are none.',
    }),
    differenceCount: t.exposeInt('differenceCount', {
      description: 'Number of differences that the last successful check left.',
    }),
    differences: t.field({
      type: [OpenchamiDifference],
      description: 'Differences that the last successful check left, by object; at most 1,000.',
      select: { columns: { differences: true } },
      resolve: ({ differences }) => differences,
    }),
    pushedAt: t.expose('pushedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a check last wrote objects; null when none did.',
    }),
    pushedCount: t.exposeInt('pushedCount', {
      nullable: true,
      description: 'Number of objects that it wrote; null when none did.',
    }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot set, remove or check the target; null when allowed.',
      resolve: (_target, _args, { ctx }) => targetWriteBlockedReason(ctx.actor),
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the target was last set.' }),
  }),
})
