import { builder } from '../../builder.ts'
import { upper } from '../shared/enum-values.ts'

export const AlertSeverity = builder.enumType('AlertSeverity', {
  description: 'Severity of an alert.',
  values: upper({
    info: 'No action needed.',
    warning: 'Needs attention.',
    critical: 'Needs immediate attention.',
  }),
})

export const AlertKind = builder.enumType('AlertKind', {
  description: 'Kind of an alert.',
  values: upper({
    stale: 'A node missed heartbeats.',
    offline: 'A node sent no heartbeat for `AgentSettings.offlineAfterSeconds`.',
    recovered: 'A node that was STALE or OFFLINE sends heartbeats again.',
    anomaly: 'Heartbeats arrived at an unusual interval.',
    sequence_gap: 'Heartbeats were sent but did not arrive.',
    key_changed: 'An agent presented another key than the allowed one.',
    key_shared: 'Two machines send heartbeats with the same key.',
    fingerprint_changed: 'An agent runs on other hardware than before.',
    clock_skew: 'The clock of a node is wrong.',
    accelerator_lost: 'An accelerator no longer responds.',
    accelerator_count_changed: 'The number of accelerators changed.',
    mass_outage: 'Too many nodes stopped sending heartbeats at once; the cause may be the network or Muster.',
    boot_stuck: 'A boot of a node has not progressed for a while.',
    boot_no_fetch: 'A node was switched on and fetched no boot script.',
    boot_token_refused: 'A boot token was requested or used a second time, or in the name of a node that is running.',
    audit_sink_behind: 'Audit entries are not delivered to a sink.',
    openchami_out_of_sync:
      'A check of the OpenCHAMI target left objects missing or different, or two checks in succession failed.',
    schedule_failed: 'The last start of a schedule was refused, or its last run did not succeed.',
    slurm_controller_silent: 'A Slurm cluster could not be read for two minutes.',
    slurm_nodes_drained: 'Nodes of a Slurm cluster have been drained for more than a day.',
    slurm_nodes_invalid: 'Nodes of a Slurm cluster registered with less hardware than configured.',
    slurm_gres_mismatch: 'Nodes of a Slurm cluster have other GPUs than configured.',
    slurm_resume_failed: 'Nodes that a Slurm cluster resumed have not registered within ResumeTimeout.',
    slurm_scale_out_failed: 'A creation or scale-out of a Slurm cluster failed, or left nodes out.',
  }),
})
