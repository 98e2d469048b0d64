import type { NodeRecord, RecordHealth, RecordState } from '@muster/ledger'
import { sql } from 'drizzle-orm'
import { agentKeys, agents } from '../agents/tables.ts'
import { agentHeartbeats, agentReports } from '../heartbeats/tables.ts'
import type { Tx } from '../kernel/context.ts'
import { accelerators, computeNodes } from '../nodes/tables.ts'
import { ledgerNodes } from './tables.ts'

export type ChangedNode = {
  nodeId: string
  nodeName: string
  digest: string
  bootEpoch: number | null
  sequence: number | null
  record: NodeRecord
}

type Amount = Record<string, number | null | undefined>
type Report = {
  capacity?: Amount & { gpu_type?: string | null }
  latency?: { measurements?: { target_node_id: string; latency_us?: number | null; measured_at?: string | null }[] | null } | null
  health?: { temperature_celsius?: number | null; error_count_24h?: number | null }
  interfaces?: { speed_mbps?: number | null }[] | null
}
type Row = {
  id: string
  name: string
  digest: string
  status: string
  region: string | null
  datacenter: string | null
  agentId: string | null
  cluster: string | null
  state: string | null
  publicKey: string | null
  fingerprint: string | null
  version: string | null
  bootEpoch: string | null
  sequence: string | null
  health: string | null
  slurmState: string | null
  runningJobs: number | null
  cpuModel: string | null
  cpuSockets: number | null
  cpuThreads: number | null
  memoryBytes: string | null
  rack: string | null
  rackPosition: string | null
  xname: string | null
  nid: number | null
  devices: { vendor: string; model: string; count: number }[]
  report: Report | null
  now: string
}

/** Capacity of the last report without what jobs use: a change of these values causes an entry. */
const TOTALS = sql`concat_ws('|', r.report #>> '{capacity,cpu_cores_total}', r.report #>> '{capacity,memory_gb_total}',
  r.report #>> '{capacity,gpus_total}', r.report #>> '{capacity,gpu_type}', r.report #>> '{capacity,storage_gb_total}')`

/**
 * Nodes of a tenant with other metadata than the ledger has, at most `limit`: those with changed values, and those with only a new
 * sequence and an entry older than `maxAgeSeconds`. Postgres compares hashes, so unchanged nodes are not transferred.
 */
export async function readChangedNodes(
  tx: Tx,
  tenantId: string,
  { maxAgeSeconds, limit }: { maxAgeSeconds: number; limit: number },
): Promise<ChangedNode[]> {
  const { rows } = await tx.execute<Row>(sql`
    with devices as (
      select node_id, jsonb_agg(jsonb_build_object('vendor', vendor, 'model', coalesce(model, ''), 'count', count)
          order by vendor, model) as list
        from (select a.node_id, a.vendor, a.model, count(*) as count from ${accelerators} a where a.tenant_id = ${tenantId}
          group by a.node_id, a.vendor, a.model) counted
        group by node_id),
    current as (
      select n.id, n.name, n.status, n.region, n.datacenter, a.agent_id as "agentId", a.cluster, a.state,
        k.public_key as "publicKey", a.fingerprint, a.version, h.boot_epoch as "bootEpoch", h.sequence, h.health,
        h.slurm_state as "slurmState", h.running_jobs as "runningJobs", n.cpu_model as "cpuModel", n.cpu_sockets as "cpuSockets",
        n.cpu_threads as "cpuThreads", n.memory_bytes as "memoryBytes", n.rack, n.rack_position as "rackPosition", n.xname, n.nid,
        coalesce(d.list, '[]'::jsonb) as devices, r.report,
        md5(jsonb_build_array(n.name, n.status, n.region, n.datacenter, a.agent_id, a.cluster, a.state, k.public_key, a.fingerprint,
          a.version, h.health, n.cpu_model, n.cpu_sockets, n.cpu_threads, n.memory_bytes, n.rack, n.rack_position, n.xname, n.nid,
          d.list, ${TOTALS})::text) as digest
      from ${computeNodes} n
      left join ${agents} a on a.node_id = n.id
      left join ${agentKeys} k on k.id = a.key_id
      left join ${agentHeartbeats} h on h.node_id = n.id
      left join ${agentReports} r on r.node_id = n.id
      left join devices d on d.node_id = n.id
      where n.tenant_id = ${tenantId})
    select c.*, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now
    from current c left join ${ledgerNodes} l on l.node_id = c.id
    where l.digest is distinct from c.digest
      or ((l.sequence, l.boot_epoch) is distinct from (c.sequence, c."bootEpoch")
        and l.recorded_at < now() - ${maxAgeSeconds} * interval '1 second')
    order by l.recorded_at nulls first, c.id limit ${limit}`)
  return rows.map((row) => ({
    nodeId: row.id,
    nodeName: row.name,
    digest: row.digest,
    bootEpoch: numberOf(row.bootEpoch),
    sequence: numberOf(row.sequence),
    record: recordOf(row),
  }))
}

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text))

/** The state of the agent. A decommissioned node is DEREGISTERED, and one without an agent UNKNOWN. */
function stateOf({ status, state }: Row): RecordState {
  if (status === 'DECOMMISSIONED') return 'DEREGISTERED'
  return (state as RecordState | null) ?? 'UNKNOWN'
}

function recordOf(row: Row): NodeRecord {
  const { capacity = {}, latency, health, interfaces } = row.report ?? {}
  const amounts = (kind: 'total' | 'available' | 'allocated') => ({
    cpu_cores: capacity[`cpu_cores_${kind}`] ?? null,
    memory_gb: capacity[`memory_gb_${kind}`] ?? null,
    gpus: capacity[`gpus_${kind}`] ?? null,
    storage_gb: capacity[`storage_gb_${kind}`] ?? null,
  })
  const total = amounts('total')
  const memoryBytes = numberOf(row.memoryBytes)
  const gpus = row.devices.reduce((sum, { count }) => sum + count, 0)
  const speeds = (interfaces ?? []).flatMap(({ speed_mbps }) => speed_mbps ?? [])
  return {
    node_id: row.agentId ?? row.name,
    muster_id: row.id,
    cluster_id: row.cluster,
    region: row.region,
    datacenter: row.datacenter,
    latency_measurements: (latency?.measurements ?? []).flatMap(({ target_node_id, latency_us, measured_at }) =>
      latency_us == null ? [] : { target_node_id, latency_us, measured_at: measured_at ?? null },
    ),
    network_bandwidth_mbps: speeds.length > 0 ? Math.max(...speeds) : null,
    resources: {
      cpu_cores: total.cpu_cores ?? row.cpuThreads,
      memory_gb: total.memory_gb ?? (memoryBytes === null ? null : Math.floor(memoryBytes / 2 ** 30)),
      gpus: total.gpus ?? (row.devices.length > 0 ? gpus : null),
      gpu_type: (capacity as { gpu_type?: string | null }).gpu_type ?? row.devices[0]?.model ?? null,
      storage_gb: total.storage_gb,
    },
    active: row.state === 'ACTIVE' && row.status !== 'MAINTENANCE' && row.status !== 'DECOMMISSIONED',
    state: stateOf(row),
    health: (row.health?.toUpperCase() as RecordHealth | undefined) ?? 'UNSPECIFIED',
    agent_pubkey: row.publicKey,
    hardware_fingerprint: row.fingerprint,
    agent_version: row.version,
    boot_epoch: numberOf(row.bootEpoch),
    last_sequence_number: numberOf(row.sequence),
    capacity: { available: amounts('available'), allocated: amounts('allocated') },
    health_details: {
      slurm_state: row.slurmState,
      running_jobs: row.runningJobs,
      temperature_celsius: health?.temperature_celsius ?? null,
      error_count_24h: health?.error_count_24h ?? null,
    },
    hardware: { cpu_model: row.cpuModel, cpu_sockets: row.cpuSockets, memory_bytes: memoryBytes, accelerators: row.devices },
    topology: { rack: row.rack, rack_position: row.rackPosition, xname: row.xname, nid: row.nid },
    recorded_at: row.now,
  }
}
