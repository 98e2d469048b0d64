import { type NodeRecord, RECORD_HEALTHS, RECORD_STATES } from '@muster/ledger'
import protobuf from 'protobufjs'

/** The message of a node. Field numbers 1 to 15 are those of the chain module; the shapes of 16 to 20 are ours. */
const PROTO = `
syntax = "proto3";
package muster.ledger.v1;
message LatencyMeasurement {
  string target_node_id = 1;
  // Milliseconds, rounded up: a latency below one millisecond is 1, never 0. The ledger of Muster has microseconds.
  int64 latency_ms = 2;
  Timestamp measured_at = 3;
}
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message Resources { int32 cpu_cores = 1; int32 memory_gb = 2; int32 gpus = 3; string gpu_type = 4; int32 storage_gb = 5; }
message Capacity { Resources available = 1; Resources allocated = 2; }
message HealthDetails { string slurm_state = 1; int32 running_jobs = 2; double temperature_celsius = 3; int32 error_count_24h = 4; }
message Accelerator { string vendor = 1; string model = 2; int32 count = 3; }
message Hardware { string cpu_model = 1; int32 cpu_sockets = 2; uint64 memory_bytes = 3; repeated Accelerator accelerators = 4; }
message Topology { string rack = 1; string rack_position = 2; string xname = 3; int32 nid = 4; }
message Locality { string region = 1; string datacenter = 2; }
message MsgUpdateNodeMetadata {
  string provider_address = 1;
  string node_id = 2;
  string cluster_id = 3;
  string region = 4;
  string datacenter = 5;
  repeated LatencyMeasurement latency_measurements = 6;
  int64 network_bandwidth_mbps = 7;
  Resources resources = 8;
  bool active = 9;
  int32 state = 10;
  int32 health = 11;
  string agent_pubkey = 12;
  string hardware_fingerprint = 13;
  string agent_version = 14;
  uint64 last_sequence_number = 15;
  Capacity capacity = 16;
  HealthDetails health_details = 17;
  Hardware hardware = 18;
  Topology topology = 19;
  Locality locality = 20;
}`

const Message = protobuf.parse(PROTO, { keepCase: true }).root.lookupType('muster.ledger.v1.MsgUpdateNodeMetadata')

/** Removes unknown values: proto3 has no null, and an absent field reads as empty or 0. */
function known(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(known)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== null)
      .map(([key, each]) => [key, known(each)]),
  )
}

function timestamp(text: string | null): { seconds: number; nanos: number } | null {
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? null : { seconds: Math.floor(ms / 1000), nanos: (((ms % 1000) + 1000) % 1000) * 1_000_000 }
}

/** The bytes of MsgUpdateNodeMetadata for a node. */
export function encodeMessage(record: NodeRecord, providerAddress: string): Uint8Array {
  const {
    latency_measurements,
    state,
    health,
    region,
    datacenter,
    muster_id: _id,
    boot_epoch: _epoch,
    recorded_at: _at,
    ...same
  } = record
  const message = known({
    ...same,
    provider_address: providerAddress,
    region,
    datacenter,
    latency_measurements: latency_measurements.map(({ target_node_id, latency_us, measured_at }) => ({
      target_node_id,
      latency_ms: Math.ceil(latency_us / 1000),
      measured_at: timestamp(measured_at),
    })),
    state: RECORD_STATES[state],
    health: RECORD_HEALTHS[health],
    locality: { region, datacenter },
  })
  return Message.encode(Message.create(message as Record<string, unknown>)).finish()
}
