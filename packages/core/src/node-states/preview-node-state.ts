import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { agentPermissions, agents, drainAgentBlockedReason, slurmNodesOf } from '../agents/index.ts'
import { alerts } from '../alerts/tables.ts'
import { deniedTargets } from '../clusters/index.ts'
import { slurmJobs } from '../clusters/tables.ts'
import { authorizeNodes } from '../groups/index.ts'
import { agentHeartbeats } from '../heartbeats/tables.ts'
import { authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { isOneOf } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { Ids } from '../kernel/input.ts'
import { decommissionBlockedReason, nodePermissions, updateBlockedReason } from '../nodes/index.ts'
import type { LeanNode } from '../nodes/tables.ts'
import { jobRunHosts, jobRuns } from '../runs/tables.ts'
import { selectNodes } from '../selection/index.ts'
import { slurmNodePermissions } from '../slurm-actions/index.ts'

export const NODE_STATE_CHANGES = ['MAINTENANCE', 'DRAIN', 'DECOMMISSION'] as const
export type NodeStateChange = (typeof NODE_STATE_CHANGES)[number]

export const PreviewNodeStateInput = z.object({
  nodeIds: Ids.refine((ids) => ids.length > 0, 'name at least one node'),
  change: z.enum(NODE_STATE_CHANGES),
})

const MAX_RUNS = 20
const MAX_JOBS = 500

export type NodeStatePreview = {
  change: NodeStateChange
  nodes: LeanNode[]
  /** Nodes for which the change would be refused, by reason. */
  rejections: Map<string, string[]>
  /** Jobs that agents report; `unknown` are the names of nodes without a known number. */
  runningJobs: number
  unknown: string[]
  /** IDs of jobs that Slurm reported on the nodes at the last refresh. */
  slurmJobIds: string[]
  /** DRAIN: the clusters that are asked. */
  slurm: { clusterId: string; clusterName: string; names: string[] }[]
  /** Unfinished runs on the nodes, at most 20; they continue. */
  runs: { runId: string; number: number; templateName: string; hosts: string[] }[]
  /** Open alerts: MAINTENANCE silences them, DECOMMISSION resolves them. */
  openAlerts: number
  /** DECOMMISSION: agents that are deregistered. */
  agents: number
}

/** What maintenance, a drain or a decommission of these nodes would do now. Nothing is changed. */
export async function previewNodeState(ctx: Ctx, input: z.input<typeof PreviewNodeStateInput>): Promise<NodeStatePreview> {
  const permission = input.change === 'DRAIN' ? agentPermissions.write : nodePermissions.write
  authorizeSomewhere(ctx, permission)
  const { nodeIds, change } = parseInput(PreviewNodeStateInput, input)
  const nodes = await selectNodes(ctx, nodeIds)
  const ids = nodes.map(({ id }) => id)
  const { db } = ctx
  await authorizeNodes(db, ctx, permission, ids)
  const [agentRows, slurm, runs, runOf, openAlerts] = await Promise.all([
    db
      .select({ agent: agents, runningJobs: agentHeartbeats.runningJobs })
      .from(agents)
      .leftJoin(agentHeartbeats, sql`${agentHeartbeats.nodeId} = ${agents.nodeId}`)
      .where(isOneOf(agents.nodeId, ids)),
    slurmNodesOf(db, ctx, ids),
    unfinishedRunsOn(ctx, ids),
    unfinishedRunOfEach(ctx, ids),
    db.$count(
      alerts,
      sql`${isOneOf(alerts.nodeId, ids)} and ${alerts.tenantId} = ${ctx.tenantId} and ${alerts.resolvedAt} is null`,
    ),
  ])
  const agentOf = new Map(agentRows.filter(({ agent }) => agent.state !== 'DEREGISTERED').map((row) => [row.agent.nodeId, row]))
  const slurmOf = Map.groupBy(slurm, ({ nodeId }) => nodeId!)
  const reasonOf = (node: LeanNode): string | null => {
    if (change === 'DECOMMISSION') return decommissionBlockedReason(ctx.actor, node, runOf.get(node.id) ?? null)
    if (change === 'MAINTENANCE') return updateBlockedReason(ctx.actor, node)
    const agent = agentOf.get(node.id)?.agent
    return agent
      ? (drainAgentBlockedReason(ctx.actor, agent) ?? slurmReasonOf(node))
      : 'The node has no agent. Drain it in Slurm.'
  }
  const slurmReasonOf = ({ id }: LeanNode): string | null => {
    for (const { name, partitions, cluster } of slurmOf.get(id) ?? []) {
      if (!cluster.controllerNodeId) return `The cluster ${cluster.name} has no controller node. Choose one.`
      const [denied] = deniedTargets(ctx, slurmNodePermissions.drain, cluster, [{ target: name, partitions }])
      if (denied) return denied.reason
    }
    return null
  }
  const rejections = Map.groupBy(nodes, reasonOf)
  rejections.delete(null)
  const jobsOf = (node: LeanNode) => agentOf.get(node.id)?.runningJobs ?? null
  return {
    change,
    nodes,
    rejections: new Map([...rejections].map(([reason, some]) => [reason!, some.map(({ name }) => name)])),
    runningJobs: nodes.reduce((sum, node) => sum + (jobsOf(node) ?? 0), 0),
    unknown: nodes.filter((node) => jobsOf(node) === null).map(({ name }) => name),
    slurmJobIds: await jobsOn(ctx, slurm),
    slurm:
      change === 'DRAIN'
        ? [...Map.groupBy(slurm, ({ cluster }) => cluster.id)].map(([clusterId, some]) => ({
            clusterId,
            clusterName: some[0]!.cluster.name,
            names: some.map(({ name }) => name),
          }))
        : [],
    runs,
    openAlerts,
    agents: change === 'DECOMMISSION' ? agentOf.size : 0,
  }
}

async function unfinishedRunsOn(ctx: Ctx, nodeIds: string[]) {
  const { rows } = await ctx.db.execute<NodeStatePreview['runs'][number]>(sql`
    select r.id as "runId", r.number, r.template_name as "templateName", array_agg(h.name order by h.name) as hosts
    ${unfinishedHosts(ctx, nodeIds)}
    group by r.id order by r.id limit ${MAX_RUNS}`)
  return rows
}

/** The first unfinished run of each node that has one, by node ID. */
async function unfinishedRunOfEach(ctx: Ctx, nodeIds: string[]): Promise<Map<string, string>> {
  const { rows } = await ctx.db.execute<{ nodeId: string; run: string }>(sql`
    select distinct on (h.node_id) h.node_id as "nodeId", r.template_name || ' ' || r.id as run
    ${unfinishedHosts(ctx, nodeIds)}
    order by h.node_id, r.id`)
  return new Map(rows.map(({ nodeId, run }) => [nodeId, run]))
}

const unfinishedHosts = (ctx: Ctx, nodeIds: string[]) => sql`
    from ${jobRunHosts} h join ${jobRuns} r on r.id = h.job_run_id
    where h.node_id = any(${sql.param(nodeIds)}::uuid[]) and r.tenant_id = ${ctx.tenantId} and r.finished_at is null and h.result <> 'OFFLINE'`

async function jobsOn(ctx: Ctx, slurm: Awaited<ReturnType<typeof slurmNodesOf>>): Promise<string[]> {
  const found = await Promise.all(
    [...Map.groupBy(slurm, ({ cluster }) => cluster.id)].map(([clusterId, some]) =>
      ctx.db
        .select({ jobId: slurmJobs.jobId })
        .from(slurmJobs)
        .where(
          sql`${slurmJobs.clusterId} = ${clusterId} and ${slurmJobs.nodeNames} && ${sql.param(some.map(({ name }) => name))}::text[]
            and ${slurmJobs.state} in ('RUNNING', 'SUSPENDED', 'COMPLETING', 'CONFIGURING', 'STOPPED', 'SIGNALING', 'STAGE_OUT')`,
        )
        .orderBy(slurmJobs.jobId)
        .limit(MAX_JOBS),
    ),
  )
  return found.flat().map(({ jobId }) => jobId)
}
