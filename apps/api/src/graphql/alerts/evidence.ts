import { keyFingerprint } from '@muster/core/agents'
import type { AlertKind } from '@muster/core/alerts'
import type { SinkEvidence } from '@muster/core/audit-sinks'
import type { BootStuckEvidence } from '@muster/core/boot-service'
import type { SlurmControllerEvidence, SlurmNodesEvidence } from '@muster/core/clusters'
import type { TargetEvidence } from '@muster/core/openchami'
import type { ScheduleEvidence } from '@muster/core/schedules'
import type { SlurmScaleOutEvidence } from '@muster/core/slurm-operations'
import { builder } from '../../builder.ts'
import { AgentStateEvidence, type StateEvidence } from '../agents/evidence.ts'
import { globalId } from '../shared/ids.ts'

const Interval = builder
  .objectRef<Partial<{ intervalSeconds: number; meanSeconds: number; deviationSeconds: number; zScore: number | null }>>(
    'HeartbeatIntervalEvidence',
  )
  .implement({
    description: 'Evidence of ANOMALY.',
    fields: (t) => ({
      intervalSeconds: t.exposeFloat('intervalSeconds', { nullable: true, description: 'Interval between two heartbeats.' }),
      meanSeconds: t.exposeFloat('meanSeconds', { nullable: true, description: 'Mean interval before.' }),
      deviationSeconds: t.exposeFloat('deviationSeconds', {
        nullable: true,
        description: 'Standard deviation of the interval before.',
      }),
      zScore: t.exposeFloat('zScore', {
        nullable: true,
        description: 'Difference from the mean in standard deviations; null when the deviation is 0.',
      }),
    }),
  })

const SequenceGap = builder.objectRef<Partial<{ missed: number; sequence: number }>>('SequenceGapEvidence').implement({
  description: 'Evidence of SEQUENCE_GAP.',
  fields: (t) => ({
    missed: t.expose('missed', { type: 'BigInt', nullable: true, description: 'Number of missing heartbeats.' }),
    sequence: t.expose('sequence', {
      type: 'BigInt',
      nullable: true,
      description: 'Sequence number of the heartbeat after the gap.',
    }),
  }),
})

const KeyChange = builder.objectRef<Partial<{ publicKey: string; seenFrom: string | null }>>('KeyChangeEvidence').implement({
  description: 'Evidence of KEY_CHANGED.',
  fields: (t) => ({
    publicKey: t.exposeString('publicKey', { nullable: true, description: 'The presented key, 32 bytes in base64.' }),
    keyFingerprint: t.string({
      nullable: true,
      description: 'SHA-256 of the key, `SHA256:…`.',
      resolve: ({ publicKey }) => (publicKey ? keyFingerprint(publicKey) : null),
    }),
    seenFrom: t.exposeString('seenFrom', { nullable: true, description: 'Source address of the registration.' }),
  }),
})

type Position = { bootEpoch: number | null; sequence: number | null; bootId: string | null }
const HeartbeatPosition = builder.objectRef<Position>('HeartbeatPosition').implement({
  description: 'Identifies a heartbeat among those of one key.',
  fields: (t) => ({
    bootEpoch: t.expose('bootEpoch', { type: 'BigInt', nullable: true, description: 'Boot epoch.' }),
    sequence: t.expose('sequence', { type: 'BigInt', nullable: true, description: 'Sequence number.' }),
    bootId: t.exposeString('bootId', { nullable: true, description: 'Boot ID of the machine; null when not reported.' }),
  }),
})

type Duplicate = Partial<{
  at: string
  bootEpoch: number
  sequence: number
  bootId: string | null
  acceptedEpoch: number
  acceptedSequence: number
  acceptedBootId: string | null
}>
const DuplicateKey = builder.objectRef<Duplicate>('DuplicateKeyEvidence').implement({
  description: 'Evidence of KEY_SHARED: two heartbeats that cannot be from one machine.',
  fields: (t) => ({
    receivedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the rejected heartbeat was received.',
      resolve: ({ at }) => (at ? new Date(at) : null),
    }),
    rejected: t.field({
      type: HeartbeatPosition,
      description: 'The rejected heartbeat.',
      resolve: ({ bootEpoch = null, sequence = null, bootId = null }) => ({ bootEpoch, sequence, bootId }),
    }),
    accepted: t.field({
      type: HeartbeatPosition,
      description: 'The last accepted heartbeat.',
      resolve: ({ acceptedEpoch = null, acceptedSequence = null, acceptedBootId = null }) => ({
        bootEpoch: acceptedEpoch,
        sequence: acceptedSequence,
        bootId: acceptedBootId,
      }),
    }),
  }),
})

const HardwareChange = builder
  .objectRef<Partial<{ fingerprint: string; seenFrom: string | null }>>('HardwareChangeEvidence')
  .implement({
    description: 'Evidence of FINGERPRINT_CHANGED.',
    fields: (t) => ({
      fingerprint: t.exposeString('fingerprint', { nullable: true, description: 'The new hardware fingerprint.' }),
      seenFrom: t.exposeString('seenFrom', {
        nullable: true,
        description: 'Source address of the registration; null when a heartbeat reported the fingerprint.',
      }),
    }),
  })

const ClockSkew = builder.objectRef<Partial<{ skewMs: number }>>('ClockSkewEvidence').implement({
  description: 'Evidence of CLOCK_SKEW.',
  fields: (t) => ({
    skewMs: t.expose('skewMs', {
      type: 'BigInt',
      nullable: true,
      description: 'Clock of the agent minus clock of the database; positive when the agent is ahead.',
    }),
  }),
})

const AcceleratorCount = builder
  .objectRef<Partial<{ before: number | null; now: number | null; lost: number | null }>>('AcceleratorCountEvidence')
  .implement({
    description: 'Evidence of ACCELERATOR_LOST and ACCELERATOR_COUNT_CHANGED.',
    fields: (t) => ({
      before: t.exposeInt('before', { nullable: true, description: 'Number of accelerators before; null when not reported.' }),
      now: t.exposeInt('now', { nullable: true, description: 'Number of accelerators now; null when not reported.' }),
      lost: t.exposeInt('lost', { nullable: true, description: 'Number of accelerators that the agent reports as lost.' }),
    }),
  })

const MassOutage = builder.objectRef<Partial<{ silentNodes: number; totalNodes: number }>>('MassOutageEvidence').implement({
  description: 'Evidence of MASS_OUTAGE.',
  fields: (t) => ({
    silentNodes: t.exposeInt('silentNodes', { nullable: true, description: 'Number of silent nodes.' }),
    totalNodes: t.exposeInt('totalNodes', { nullable: true, description: 'Number of nodes in the tenant or cluster.' }),
  }),
})

const BehindSink = builder.objectRef<SinkEvidence['sinks'][number]>('BehindAuditSink').implement({
  description: 'An audit sink that is behind.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the sink.' }),
    since: t.field({
      type: 'DateTime',
      description: 'When the oldest undelivered entry was written.',
      resolve: ({ since }) => new Date(since),
    }),
    error: t.exposeString('error', { nullable: true, description: 'Error of the last delivery; null when none was made.' }),
  }),
})

const AuditSinks = builder.objectRef<Partial<SinkEvidence>>('AuditSinkEvidence').implement({
  description: 'Evidence of AUDIT_SINK_BEHIND.',
  fields: (t) => ({
    sinks: t.field({
      type: [BehindSink],
      description: 'The sinks that were behind when the alert last changed, at most 10.',
      resolve: ({ sinks }) => sinks ?? [],
    }),
  }),
})

const OpenchamiTarget = builder.objectRef<Partial<TargetEvidence>>('OpenchamiTargetEvidence').implement({
  description: 'Evidence of OPENCHAMI_OUT_OF_SYNC.',
  fields: (t) => ({
    differenceCount: t.exposeInt('differenceCount', {
      nullable: true,
      description: 'Number of objects that were missing or different when the alert was raised.',
    }),
    objects: t.stringList({
      description: 'Some of these objects, for example `component x1000c0s0b0n0`; at most 10.',
      resolve: ({ objects }) => objects ?? [],
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why the check failed; null when it found differences.' }),
  }),
})

const FailedSchedule = builder.objectRef<ScheduleEvidence['schedules'][number]>('FailedSchedule').implement({
  description: 'A schedule with a failed last result.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the schedule.' }),
    dueAt: t.field({ type: 'DateTime', description: 'The due time that failed.', resolve: ({ dueAt }) => new Date(dueAt) }),
    runNumber: t.exposeInt('run', { nullable: true, description: 'Number of the failed run; null when none was started.' }),
    reason: t.exposeString('reason', { description: 'Why it failed.' }),
  }),
})

const FailedSchedules = builder.objectRef<Partial<ScheduleEvidence>>('ScheduleEvidence').implement({
  description: 'Evidence of SCHEDULE_FAILED.',
  fields: (t) => ({
    schedules: t.field({
      type: [FailedSchedule],
      description: 'The schedules that failed when the alert last changed, at most 1000.',
      resolve: ({ schedules }) => schedules ?? [],
    }),
  }),
})

const SlurmController = builder.objectRef<Partial<SlurmControllerEvidence>>('SlurmControllerEvidence').implement({
  description: 'Evidence of SLURM_CONTROLLER_SILENT.',
  fields: (t) => ({
    since: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the first failed refresh.',
      resolve: ({ since }) => (since ? new Date(since) : null),
    }),
    error: t.exposeString('error', { nullable: true, description: 'Error of the refresh when the alert was raised.' }),
  }),
})

const SlurmAlertNode = builder.objectRef<SlurmNodesEvidence['nodes'][number]>('SlurmAlertNode').implement({
  description: 'A node of a Slurm cluster in the evidence of an alert.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'NodeName of the node.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'Reason that Slurm reports, or the difference that was found.',
    }),
    since: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the reason was set; null when it is not known.',
      resolve: ({ since }) => (since ? new Date(since) : null),
    }),
  }),
})

const BootProgress = builder.objectRef<Partial<BootStuckEvidence>>('BootProgressEvidence').implement({
  description: 'Evidence of BOOT_STUCK and BOOT_NO_FETCH.',
  fields: (t) => ({
    stage: t.exposeString('stage', { nullable: true, description: 'The last stage that the boot reached.' }),
    since: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it reached the stage.',
      resolve: ({ since }) => (since ? new Date(since) : null),
    }),
  }),
})

const BootToken = builder.objectRef<{ reason?: string; address?: string | null }>('BootTokenEvidence').implement({
  description: 'Evidence of BOOT_TOKEN_REFUSED.',
  fields: (t) => ({
    reason: t.exposeString('reason', { nullable: true, description: 'Why the token was refused.' }),
    address: t.exposeString('address', { nullable: true, description: 'Address that the request came from; it can be forged.' }),
  }),
})

const SlurmNodes = builder.objectRef<Partial<SlurmNodesEvidence>>('SlurmNodesEvidence').implement({
  description: 'Evidence of SLURM_NODES_DRAINED, SLURM_NODES_INVALID and SLURM_GRES_MISMATCH.',
  fields: (t) => ({
    total: t.exposeInt('total', { nullable: true, description: 'Number of nodes when the alert last changed.' }),
    nodes: t.field({
      type: [SlurmAlertNode],
      description: 'The nodes when the alert last changed, by name; at most 10.',
      resolve: ({ nodes }) => nodes ?? [],
    }),
  }),
})

const SlurmScaleOut = builder.objectRef<Partial<SlurmScaleOutEvidence>>('SlurmScaleOutEvidence').implement({
  description: 'Evidence of SLURM_SCALE_OUT_FAILED.',
  fields: (t) => ({
    operationId: t.id({
      nullable: true,
      description: 'ID of the operation.',
      resolve: ({ operationId }) => (operationId ? globalId('SlurmOperation', operationId) : null),
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why the operation failed; null when it left nodes out.' }),
    total: t.exposeInt('total', { nullable: true, description: 'Number of nodes that were left out.' }),
    nodes: t.field({
      type: [SlurmAlertNode],
      description: 'The nodes that were left out, with the reasons; at most 10.',
      resolve: ({ nodes }) => (nodes ?? []).map((node) => ({ ...node, since: null })),
    }),
  }),
})

const TYPES = {
  stale: AgentStateEvidence,
  offline: AgentStateEvidence,
  recovered: AgentStateEvidence,
  anomaly: Interval,
  sequence_gap: SequenceGap,
  key_changed: KeyChange,
  key_shared: DuplicateKey,
  fingerprint_changed: HardwareChange,
  clock_skew: ClockSkew,
  accelerator_lost: AcceleratorCount,
  accelerator_count_changed: AcceleratorCount,
  mass_outage: MassOutage,
  audit_sink_behind: AuditSinks,
  openchami_out_of_sync: OpenchamiTarget,
  boot_stuck: BootProgress,
  boot_no_fetch: BootProgress,
  boot_token_refused: BootToken,
  schedule_failed: FailedSchedules,
  slurm_controller_silent: SlurmController,
  slurm_nodes_drained: SlurmNodes,
  slurm_nodes_invalid: SlurmNodes,
  slurm_gres_mismatch: SlurmNodes,
  slurm_resume_failed: SlurmNodes,
  slurm_scale_out_failed: SlurmScaleOut,
} satisfies Record<AlertKind, unknown>

type Shape = StateEvidence | Duplicate | Record<string, unknown>

/** The evidence of `kind`, tagged for AlertEvidence. */
export const evidenceOf = ({ kind, evidence }: { kind: AlertKind; evidence: Record<string, unknown> }) =>
  ({ ...evidence, kind }) as Shape as never

export const AlertEvidence = builder.unionType('AlertEvidence', {
  description: 'The facts that an alert is based on. The kind of the alert determines the type.',
  types: [...new Set(Object.values(TYPES))],
  resolveType: (evidence) => TYPES[(evidence as { kind: AlertKind }).kind],
})
