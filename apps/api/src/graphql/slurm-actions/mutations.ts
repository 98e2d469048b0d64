import { Conflict, NotFound } from '@muster/core/errors'
import { startSlurmAction } from '@muster/core/slurm-actions'
import { builder } from '../../builder.ts'
import { rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { SlurmActionVerb, SlurmNextState, SlurmPartitionState, SlurmReservationFlag } from './enums.ts'
import { SlurmAction } from './types.ts'

const SlurmNodeSelector = builder.inputType('SlurmNodeSelector', {
  description: 'Nodes of a Slurm cluster that meet all given conditions.',
  fields: (t) => ({
    hostlist: t.string({ description: 'Their names, for example `gpu[001-064],cpu1`.' }),
    partition: t.string({ description: 'In this partition.' }),
    states: t.stringList({ description: "With one of these of Slurm's words for states and flags; at most 50." }),
  }),
})

const SlurmJobSelector = builder.inputType('SlurmJobSelector', {
  description: 'Jobs of a Slurm cluster that meet all given conditions.',
  fields: (t) => ({
    ids: t.stringList({ description: 'Their IDs as squeue shows them: `15`, `3_1`, `3_[2-9]`, `12+1`; at most 10,000.' }),
    user: t.string({ description: 'Of this user.' }),
    partition: t.string({ description: 'In this partition.' }),
    states: t.stringList({ description: "With one of these of Slurm's words for states; at most 50." }),
  }),
})

const SlurmReservationInput = builder.inputType('SlurmReservationInput', {
  description: 'A reservation. Omitted fields of an existing one keep their values.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name.' }),
    startAt: t.field({ type: 'DateTime', description: 'Start. Default of a new one: at once.' }),
    durationMinutes: t.int({ description: 'Duration in minutes; required for a new one.' }),
    hostlist: t.string({ description: 'Names of its nodes; required for a new one.' }),
    users: t.stringList({ description: 'Users who may use it; at most 200. A new one needs users or accounts.' }),
    accounts: t.stringList({ description: 'Accounts that may use it; at most 200.' }),
    flags: t.field({ type: [SlurmReservationFlag], description: 'Flags of a new one; at most 10.' }),
  }),
})

export const StartSlurmActionInput = mutation('startSlurmAction', {
  description:
    'Starts an action on a Slurm cluster. Follow it with the subscription `slurmActionUpdated`. Preview it before with `previewSlurmAction` and the same input.',
  input: (t) => ({
    clusterId: t.id({ required: true, description: 'ID of the cluster.' }),
    verb: t.field({ type: SlurmActionVerb, required: true, description: 'Kind of the action.' }),
    reason: t.string({
      required: true,
      description:
        'Reason, at most 200 characters. Recorded in the audit log; Slurm also stores it for DRAIN_NODES, DOWN_NODES and REBOOT_NODES.',
    }),
    nodes: t.field({ type: SlurmNodeSelector, description: 'Nodes, for the verbs on nodes.' }),
    jobs: t.field({ type: SlurmJobSelector, description: 'Jobs, for the verbs on jobs.' }),
    partitions: t.stringList({ description: 'SET_PARTITION_STATE: names of the partitions; at most 500.' }),
    reservation: t.field({ type: SlurmReservationInput, description: 'The reservation, for the verbs on reservations.' }),
    nextState: t.field({ type: SlurmNextState, description: 'REBOOT_NODES: state after the reboot. Default: RESUME.' }),
    features: t.stringList({ description: 'UPDATE_NODES: all features, available and active; at most 100.' }),
    weight: t.int({ description: 'UPDATE_NODES: weight; nodes with a low weight are used first.' }),
    signal: t.string({ description: 'CANCEL_JOBS: signal to send instead, for example `USR1`. The jobs may continue.' }),
    timeLimitMinutes: t.int({ description: 'UPDATE_JOBS: time limit in minutes.' }),
    unlimitedTime: t.boolean({ description: 'UPDATE_JOBS: no time limit. Default: false.' }),
    priority: t.int({ description: 'UPDATE_JOBS: priority.' }),
    partitionState: t.field({ type: SlurmPartitionState, description: 'SET_PARTITION_STATE: the state.' }),
    fingerprint: t.string({
      description:
        'From the preview: other targets are a conflict. Required without a hostlist or IDs, because then only a preview shows the targets.',
    }),
  }),
  idempotent: true,
  payload: { slurmAction: { type: SlurmAction, description: 'The started action.' } },
  errors: [Conflict, NotFound],
  resolve: async (input, { ctx }) => ({
    slurmAction: await startSlurmAction(ctx, { ...input, clusterId: rowId('SlurmCluster', input.clusterId) }),
  }),
})
