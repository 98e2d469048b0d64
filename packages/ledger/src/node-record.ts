/** Numbers are those of the states in the transaction message; see apps/worker/src/ledger/message.ts. */
export const RECORD_STATES = {
  UNSPECIFIED: 0,
  UNKNOWN: 1,
  PENDING: 2,
  ACTIVE: 3,
  STALE: 4,
  DRAINING: 5,
  DRAINED: 6,
  OFFLINE: 7,
  DEREGISTERED: 8,
} as const
export type RecordState = keyof typeof RECORD_STATES

export const RECORD_HEALTHS = { UNSPECIFIED: 0, HEALTHY: 1, DEGRADED: 2, UNHEALTHY: 3, DRAINING: 4, OFFLINE: 5 } as const
export type RecordHealth = keyof typeof RECORD_HEALTHS

type Amounts = { cpu_cores: number | null; memory_gb: number | null; gpus: number | null; storage_gb: number | null }

/** Metadata of a node as the ledger stores it, in canonical JSON (RFC 8785). Unknown values are null, never 0. */
export type NodeRecord = {
  /** ID that the agent reports, else the node's name. */
  node_id: string
  /** UUID of the node in Muster. */
  muster_id: string
  cluster_id: string | null
  region: string | null
  datacenter: string | null
  /** In microseconds, by the agent's measurements. */
  latency_measurements: { target_node_id: string; latency_us: number; measured_at: string | null }[]
  /** Fastest link of the node, in Mbit/s. */
  network_bandwidth_mbps: number | null
  resources: Amounts & { gpu_type: string | null }
  /** Whether the node can be used: its agent is ACTIVE, and it is neither in maintenance nor decommissioned. */
  active: boolean
  state: RecordState
  health: RecordHealth
  /** Ed25519, 32 bytes in base64. */
  agent_pubkey: string | null
  hardware_fingerprint: string | null
  agent_version: string | null
  boot_epoch: number | null
  last_sequence_number: number | null
  capacity: { available: Amounts; allocated: Amounts }
  health_details: {
    slurm_state: string | null
    running_jobs: number | null
    temperature_celsius: number | null
    error_count_24h: number | null
  }
  hardware: {
    cpu_model: string | null
    cpu_sockets: number | null
    memory_bytes: number | null
    accelerators: { vendor: string; model: string; count: number }[]
  }
  topology: { rack: string | null; rack_position: string | null; xname: string | null; nid: number | null }
  /** When Muster read these values, RFC 3339. */
  recorded_at: string
}
