/** In ascending order. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

type Kind = {
  severity: Severity
  /** Predicate of a sentence with the node as its subject: `gpu001 …`. */
  message: string
  /** An event without an observable end: it resolves when it has not occurred again for five minutes. */
  isEvent?: true
  /** The cause may be an intended, permanent change, so that a user must resolve the alert. */
  isManuallyResolvable?: true
}

export const KINDS = {
  stale: { severity: 'warning', message: 'missed heartbeats' },
  offline: { severity: 'critical', message: 'is offline' },
  recovered: { severity: 'info', message: 'sends heartbeats again', isEvent: true },
  anomaly: { severity: 'info', message: 'sends heartbeats at unusual intervals', isEvent: true },
  sequence_gap: { severity: 'warning', message: 'sent heartbeats that did not arrive', isEvent: true },
  key_changed: { severity: 'critical', message: 'presented a key that is not allowed' },
  key_shared: { severity: 'critical', message: 'has the same key as another machine', isEvent: true },
  fingerprint_changed: { severity: 'critical', message: 'has different hardware than before' },
  clock_skew: { severity: 'warning', message: 'has a wrong clock' },
  accelerator_lost: { severity: 'critical', message: 'lost an accelerator', isManuallyResolvable: true },
  accelerator_count_changed: { severity: 'warning', message: 'has more accelerators than before', isEvent: true },
  boot_stuck: { severity: 'warning', message: 'has not finished booting' },
  boot_no_fetch: { severity: 'warning', message: 'was switched on and fetched no boot script' },
  boot_token_refused: {
    severity: 'critical',
    message: 'was refused a boot token; another machine may boot in its name',
    isEvent: true,
  },
  mass_outage: {
    severity: 'critical',
    message: 'Too many nodes stopped sending heartbeats at once; the cause may be the network or Muster',
  },
  audit_sink_behind: { severity: 'warning', message: 'Audit entries are not delivered to a sink' },
  openchami_out_of_sync: { severity: 'warning', message: 'The OpenCHAMI target does not have what the inventory has' },
  schedule_failed: { severity: 'warning', message: 'The last run of a schedule failed or was refused' },
  slurm_controller_silent: { severity: 'critical', message: 'The Slurm controller does not answer' },
  slurm_nodes_drained: { severity: 'warning', message: 'Slurm nodes have been drained for more than a day' },
  slurm_nodes_invalid: { severity: 'warning', message: 'Slurm nodes registered with less hardware than configured' },
  slurm_gres_mismatch: { severity: 'warning', message: 'The GPUs of Slurm nodes differ from slurm.conf' },
  slurm_resume_failed: { severity: 'warning', message: 'Slurm nodes did not register after they were resumed' },
  slurm_scale_out_failed: {
    severity: 'warning',
    message: 'Nodes were not added to the Slurm cluster',
    isManuallyResolvable: true,
  },
} as const satisfies Record<string, Kind>

export type AlertKind = keyof typeof KINDS
export const ALERT_KINDS = Object.keys(KINDS) as [AlertKind, ...AlertKind[]]
export const EVENT_KINDS = ALERT_KINDS.filter((kind) => 'isEvent' in KINDS[kind])

/** An alert in one sentence without a full stop: `gpu001 is offline`, `training: Too many nodes …`. */
export const alertMessage = ({ kind, node, cluster }: { kind: AlertKind; node: string | null; cluster: string | null }): string =>
  [node ?? (cluster && `${cluster}:`), KINDS[kind].message].filter(Boolean).join(' ')
