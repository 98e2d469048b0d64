import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import pg from 'pg'

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

export const agentName = (i: number): string => `agent-${String(i).padStart(6, '0')}`

/** Key of the i-th agent, derived from its number, so that processes need not exchange keys. */
export function agentKey(i: number): KeyObject {
  const seed = createHash('sha256').update(`agent ${i} of a benchmark`).digest()
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
}

/** Inserts `count` registered agents with their keys into the only tenant, with SQL. */
export async function seedAgents(databaseUrl: string, count: number): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  try {
    for (let from = 0; from < count; from += 5000) {
      const places = Array.from({ length: Math.min(5000, count - from) }, (_, k) => from + k)
      const keys = places.map((i) =>
        createPublicKey(agentKey(i)).export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
      )
      await db.query(
        `with given as materialized (select g.*, gen_random_uuid() as node_id, gen_random_uuid() as key_id, (select id from tenants) as tenant_id
           from unnest($1::text[], $2::text[]) g(name, public_key)),
         nodes as (insert into compute_nodes (id, tenant_id, name, host, ready_at) select node_id, tenant_id, name, '127.0.0.1', now() from given),
         keys as (insert into agent_keys (id, tenant_id, node_id, public_key, status, created_by_name)
           select key_id, tenant_id, node_id, public_key, 'ALLOWED', 'bench' from given),
         registered as (insert into agents (node_id, tenant_id, agent_id, cluster, key_id, version)
           select node_id, tenant_id, name, 'cluster-' || (ascii(right(name, 1)) % 10), key_id, '1.0.0' from given)
         insert into agent_heartbeats (node_id) select node_id from given`,
        [places.map(agentName), keys],
      )
    }
    await db.query('analyze')
  } finally {
    await db.end()
  }
}

/** Heartbeat of the i-th agent, of realistic size. */
export const heartbeatOf = (i: number, sequence: number, now: Date) => ({
  node_id: agentName(i),
  cluster_id: `cluster-${agentName(i).charCodeAt(11) % 10}`,
  sequence_number: sequence,
  timestamp: now.toISOString(),
  agent_version: '1.0.0',
  boot_epoch: 1,
  capacity: {
    cpu_cores_total: 128,
    cpu_cores_available: 64,
    memory_gb_total: 1024,
    memory_gb_available: 512,
    gpus_total: 8,
    gpus_available: 2,
    gpu_type: 'NVIDIA H100 80GB HBM3',
    storage_gb_total: 7000,
    storage_gb_available: 5000,
  },
  health: {
    status: 'healthy' as const,
    uptime_seconds: 86_400,
    load_average_1m: '12.500000',
    cpu_utilization_percent: sequence % 100,
    memory_utilization_percent: 50,
    slurm_state: 'mixed',
  },
  latency: {
    measurements: [{ target_node_id: 'agent-000001', latency_us: 150, packet_loss_percent: 0 }],
    gateway_latency_us: 900,
    avg_cluster_latency_us: 200,
  },
  jobs: { running_count: 4, pending_count: 2, completed_24h: 100, failed_24h: 1 },
  services: {
    slurmd_running: true,
    slurmd_version: '23.02.4',
    munge_running: true,
    container_runtime: 'enroot',
    container_runtime_version: '3.4.1',
  },
})
