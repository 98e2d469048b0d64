import { builder } from '../../builder.ts'
import { Actor } from '../access/people.ts'

/** Evidence of a state change as stored; fields without a value are missing. */
export type StateEvidence = Partial<{
  lastHeartbeatAt: string
  silentSeconds: number
  bootEpoch: number
  sequence: number
  slurmState: string
  runningJobs: number
  drainRequestedByName: string
  drainRequestedById: string
  drainReason: string
  rejectionCode: string
  rejectionCount: number
  isOfflineSuppressed: boolean
  requestedByName: string
  requestedById: string
  reason: string
  seenFrom: string
}>

const actor = (name: string | undefined, userId: string | undefined) =>
  name === undefined ? null : { name, userId: userId ?? null }

export const AgentStateEvidence = builder.objectRef<StateEvidence>('AgentStateEvidence').implement({
  description: 'The facts that a state change of an agent is based on. Fields that do not apply are null.',
  fields: (t) => ({
    lastHeartbeatAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the last heartbeat was received.',
      resolve: ({ lastHeartbeatAt }) => (lastHeartbeatAt ? new Date(lastHeartbeatAt) : null),
    }),
    silentSeconds: t.exposeFloat('silentSeconds', { nullable: true, description: 'Time since the last heartbeat.' }),
    bootEpoch: t.expose('bootEpoch', { type: 'BigInt', nullable: true, description: 'Boot epoch of the last heartbeat.' }),
    sequence: t.expose('sequence', { type: 'BigInt', nullable: true, description: 'Sequence number of the last heartbeat.' }),
    slurmState: t.exposeString('slurmState', { nullable: true, description: 'State of the node in Slurm, as Slurm writes it.' }),
    runningJobs: t.exposeInt('runningJobs', { nullable: true, description: 'Number of running jobs.' }),
    drainRequestedBy: t.field({
      type: Actor,
      nullable: true,
      description: 'Actor that requested the drain.',
      resolve: (evidence) => actor(evidence.drainRequestedByName, evidence.drainRequestedById),
    }),
    drainReason: t.exposeString('drainReason', { nullable: true, description: 'Reason of the drain.' }),
    rejectionCode: t.exposeString('rejectionCode', {
      nullable: true,
      description: 'Why the last heartbeat was rejected; null when none was since the last accepted one.',
    }),
    rejectionCount: t.exposeInt('rejectionCount', {
      nullable: true,
      description: 'Number of heartbeats that were rejected since the last accepted one; null when none was.',
    }),
    isOfflineSuppressed: t.boolean({
      description: 'Whether OFFLINE was suppressed because of a mass outage.',
      resolve: ({ isOfflineSuppressed }) => isOfflineSuppressed ?? false,
    }),
    requestedBy: t.field({
      type: Actor,
      nullable: true,
      description: 'Actor that deregistered the agent.',
      resolve: (evidence) => actor(evidence.requestedByName, evidence.requestedById),
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Reason of the deregistration.' }),
    seenFrom: t.exposeString('seenFrom', { nullable: true, description: 'Source address of the registration.' }),
  }),
})
