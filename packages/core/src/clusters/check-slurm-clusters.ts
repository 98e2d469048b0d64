import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { type Alert, type AlertKind, alerts, raiseAlerts, resolveAlerts } from '../alerts/index.ts'
import { authorize, inTransaction, type SystemCtx, type Tx } from '../kernel/context.ts'
import { accelerators, computeNodes } from '../nodes/tables.ts'
import { powerRunItems } from '../power/tables.ts'
import { slurmPowerRequests, slurmPowerSavings } from '../slurm-power/tables.ts'
import { nodeDifferences } from './matching/node-differences.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { type SlurmCluster, type SlurmNodeRow, slurmClusters, slurmNodes } from './tables.ts'

/** The next attempts after a failed refresh are 30 and 60 s later. */
const SILENT_AFTER_MS = 120_000
const DRAINED_AFTER_MS = 86_400_000
const MAX_NODES = 10

const KINDS = [
  'slurm_controller_silent',
  'slurm_nodes_drained',
  'slurm_nodes_invalid',
  'slurm_gres_mismatch',
  'slurm_resume_failed',
] as const
type Kind = Extract<AlertKind, (typeof KINDS)[number]>

/** The facts of an alert about a controller. */
export type SlurmControllerEvidence = { since: string; error: string | null }
/** The facts of an alert about nodes: at most ten of them, by name. */
export type SlurmNodesEvidence = { total: number; nodes: { name: string; detail: string | null; since: string | null }[] }

type Found = { tenantId: string; cluster: string; kind: Kind; evidence: SlurmControllerEvidence | SlurmNodesEvidence }

/**
 * Reconciler, over all tenants, safe with any number of workers: raises one alert per cluster and kind, and resolves it when its cause
 * has ended. What is known of the nodes of a cluster that does not answer is old: their alerts stay as they are.
 * @returns the number of causes
 */
export async function checkSlurmClusters(ctx: SystemCtx): Promise<number> {
  authorize(ctx, slurmClusterPermissions.schedule)
  return inTransaction(ctx, async (tx, ctx) => {
    const { rows } = await tx.execute<{ locked: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended('muster slurm clusters', 0)) as locked`,
    )
    if (!rows[0]!.locked) return 0
    const clusters = await tx.select().from(slurmClusters).orderBy(slurmClusters.id)
    const found: Found[] = []
    const unknown = new Set<string>()
    for (const cluster of clusters) {
      const add = (kind: Kind, evidence: Found['evidence'] | null) => {
        if (evidence) found.push({ tenantId: cluster.tenantId, cluster: cluster.name, kind, evidence })
      }
      add('slurm_controller_silent', silenceOf(cluster))
      if (cluster.state === 'NOT_ANSWERING') {
        for (const kind of KINDS) if (kind !== 'slurm_controller_silent') unknown.add(keyOf(cluster.tenantId, cluster.name, kind))
        continue
      }
      const nodes = await tx.select().from(slurmNodes).where(eq(slurmNodes.clusterId, cluster.id)).orderBy(slurmNodes.name)
      add('slurm_nodes_drained', evidenceOf(nodes.filter(isDrainedTooLong)))
      add('slurm_nodes_invalid', evidenceOf(nodes.filter(({ states }) => states.includes('INVALID_REG'))))
      add('slurm_gres_mismatch', await mismatchesOf(tx, nodes))
      add('slurm_resume_failed', await failedResumes(tx, cluster, nodes))
    }
    const open = await tx
      .select()
      .from(alerts)
      .where(and(inArray(alerts.kind, [...KINDS]), isNull(alerts.resolvedAt)))
    const wanted = new Map(found.map((each) => [keyOf(each.tenantId, each.cluster, each.kind), each]))
    const over = open.filter(({ tenantId, cluster, kind }) => {
      const key = keyOf(tenantId, cluster!, kind)
      return !wanted.has(key) && !unknown.has(key)
    })
    const resolved = over.map(({ tenantId, cluster, kind }) => ({ tenantId, nodeId: null, cluster, kinds: [kind] }))
    const raised = [...wanted.values()].filter(({ tenantId, cluster, kind, evidence }) => {
      const known = open.find((alert) => keyOf(alert.tenantId, alert.cluster!, alert.kind) === keyOf(tenantId, cluster, kind))
      return !known || summaryOf(known.evidence) !== summaryOf(evidence)
    })
    for (const event of [
      ...(await resolveAlerts(tx, resolved)),
      ...(await raiseAlerts(
        tx,
        raised.map((each) => ({ ...each, nodeId: null })),
      )),
    ])
      ctx.notify(event)
    return found.length
  })
}

const keyOf = (tenantId: string, cluster: string, kind: AlertKind) => `${tenantId} ${kind} ${cluster}`

/** What makes a new occurrence of an open alert: other nodes. */
function summaryOf(evidence: Alert['evidence']): string {
  const { nodes = [], total = 0 } = evidence as Partial<SlurmNodesEvidence>
  return JSON.stringify([total, nodes.map(({ name }) => name)])
}

function silenceOf({ failingSince, lastError }: SlurmCluster): SlurmControllerEvidence | null {
  if (failingSince === null || Date.now() - failingSince.getTime() < SILENT_AFTER_MS) return null
  return { since: failingSince.toISOString(), error: lastError }
}

/** When a reason was set, as it was stored. */
const reasonAt = ({ report }: SlurmNodeRow): string | null => (report.reasonAt ? new Date(report.reasonAt).toISOString() : null)

function isDrainedTooLong(node: SlurmNodeRow): boolean {
  const since = reasonAt(node)
  return node.states.includes('DRAIN') && since !== null && Date.now() - Date.parse(since) > DRAINED_AFTER_MS
}

function evidenceOf(nodes: SlurmNodeRow[]): SlurmNodesEvidence | null {
  if (nodes.length === 0) return null
  const shown = nodes.slice(0, MAX_NODES)
  return {
    total: nodes.length,
    nodes: shown.map((node) => ({ name: node.name, detail: node.report.reason, since: reasonAt(node) })),
  }
}

const NOT_UP = ['DOWN', 'POWERING_UP', 'POWERED_DOWN', 'NOT_RESPONDING']

/** Nodes that slurmctld resumed, and that have not registered within ResumeTimeout. */
async function failedResumes(tx: Tx, { id }: SlurmCluster, nodes: SlurmNodeRow[]): Promise<SlurmNodesEvidence | null> {
  const late = await tx
    .select({ request: slurmPowerRequests, message: powerRunItems.message })
    .from(slurmPowerRequests)
    .innerJoin(slurmPowerSavings, eq(slurmPowerSavings.clusterId, slurmPowerRequests.clusterId))
    .leftJoin(
      powerRunItems,
      and(eq(powerRunItems.runId, slurmPowerRequests.powerRunId), eq(powerRunItems.nodeId, slurmPowerRequests.nodeId)),
    )
    .where(
      and(
        eq(slurmPowerRequests.clusterId, id),
        eq(slurmPowerRequests.verb, 'RESUME'),
        sql`${slurmPowerRequests.requestedAt} < now() - make_interval(secs => (${slurmPowerSavings.settings}->>'resumeTimeoutSeconds')::int)`,
      ),
    )
    .orderBy(slurmPowerRequests.name)
  const failed = late.flatMap(({ request: { name, refusedReason, requestedAt }, message }) => {
    const node = nodes.find((one) => one.name === name && one.states.some((state) => NOT_UP.includes(state)))
    // A node that booted since came back, and went down for another reason.
    const bootedAt = node?.report.bootAt ? new Date(node.report.bootAt) : null
    return node && !(bootedAt && bootedAt > requestedAt)
      ? [{ name, detail: refusedReason ?? message ?? node.report.reason, since: requestedAt.toISOString() }]
      : []
  })
  return failed.length > 0 ? { total: failed.length, nodes: failed.slice(0, MAX_NODES) } : null
}

/** What the comparison needs of a node; its facts are large. */
const DISCOVERED = {
  id: computeNodes.id,
  discoveredAt: computeNodes.discoveredAt,
  cpuThreads: computeNodes.cpuThreads,
  cpuCores: computeNodes.cpuCores,
  memoryBytes: computeNodes.memoryBytes,
}

/** The nodes of the inventory with other GPUs than configured. */
async function mismatchesOf(tx: Tx, rows: SlurmNodeRow[]): Promise<SlurmNodesEvidence | null> {
  const ids = rows.flatMap(({ nodeId }) => nodeId ?? [])
  if (ids.length === 0) return null
  const machines = new Map(
    (await tx.select(DISCOVERED).from(computeNodes).where(inArray(computeNodes.id, ids))).map((node) => [node.id, node]),
  )
  const devices = Map.groupBy(
    await tx.select().from(accelerators).where(inArray(accelerators.nodeId, ids)),
    ({ nodeId }) => nodeId,
  )
  const found = rows.flatMap((row) => {
    const machine = row.nodeId ? machines.get(row.nodeId) : undefined
    if (!machine) return []
    const [difference] = nodeDifferences(row.report, machine, devices.get(machine.id) ?? []).filter(
      ({ kind }) => kind === 'GPU_COUNT' || kind === 'GPU_TYPE',
    )
    if (!difference) return []
    return [{ name: row.name, detail: `configured: ${difference.configured}; discovered: ${difference.discovered}`, since: null }]
  })
  return found.length > 0 ? { total: found.length, nodes: found.slice(0, MAX_NODES) } : null
}
