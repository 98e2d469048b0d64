import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { effectiveBootProfiles } from '../../boot-profiles/index.ts'
import { bootAssignments } from '../../boot-profiles/tables.ts'
import { slurmJobs, slurmNodes } from '../../clusters/tables.ts'
import { isInGroup, readGroupTree } from '../../groups/index.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { accelerators, computeNodes } from '../../nodes/tables.ts'
import { foldHostlist } from '../../selection/index.ts'
import type { Scope } from '../kinds/index.ts'
import type { Step } from './compare.ts'
import type { ManifestImpact } from './result.ts'

/** Whether the steps can change what nodes boot. */
const concernsBoot = (steps: Step[]): boolean =>
  steps.some(({ kind, action }) => action !== 'UNCHANGED' && (kind.kind === 'BootProfile' || kind.kind === 'NodeGroup'))

/** Revisions of what nodes boot, by node ID; empty when the steps cannot change it. */
export async function readBootRevisions({ tx, ctx }: Scope, steps: Step[]): Promise<Map<string, string | null>> {
  if (!concernsBoot(steps)) return new Map()
  const isAssigned = (await tx.$count(bootAssignments, visibleTo(ctx, bootAssignments))) > 0
  if (!isAssigned && !steps.some(({ kind }) => kind.kind === 'BootProfile')) return new Map()
  const nodes = await tx
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isNull(computeNodes.decommissionedAt)))
  const effective = await effectiveBootProfiles(
    { db: tx as never, tenantId: ctx.tenantId },
    nodes.map(({ id }) => id),
  )
  return new Map([...effective].map(([id, { profile }]) => [id, profile?.revision ?? null]))
}

/** @param bootsBefore revisions from before the changes, which are made now */
export async function impactOf(scope: Scope, steps: Step[], bootsBefore: Map<string, string | null>): Promise<ManifestImpact[]> {
  const { tx, ctx } = scope
  const bootsAfter = await readBootRevisions(scope, steps)
  const rebooting = [...bootsBefore].filter(([id, revision]) => bootsAfter.get(id) !== revision).map(([id]) => id)
  const ofNodes = steps.filter(({ kind }) => kind.kind === 'ComputeNode')
  const leaving = ofNodes.filter(({ action }) => action === 'DELETE').map(({ item }) => item.stored!.id)
  const moving = ofNodes
    .filter(({ action, differing }) => action === 'UPDATE' && differing.some((path) => /^(host|port|connectionType)$/.test(path)))
    .map(({ item }) => item.stored!.id)
  const namesOf = async (ids: string[]) => {
    const rows = await tx
      .select({ name: computeNodes.name })
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, ids)))
    return rows.map(({ name }) => name)
  }
  const staying = rebooting.filter((id) => !leaving.includes(id))
  const impact: ManifestImpact[] = []
  const add = (kind: ManifestImpact['kind'], count: number, names: string[]) => {
    if (count > 0) impact.push({ kind, count, nodes: foldHostlist(names) })
  }
  add('REBOOT', staying.length, await namesOf(staying))
  add('HOST_KEY', moving.length, await namesOf(moving))
  const withVars = await nodesWithVariables(scope, steps)
  add('VARIABLES', withVars.length, withVars)
  const [devices] = await tx
    .select({ count: sql<number>`count(*)::int` })
    .from(accelerators)
    .where(and(visibleTo(ctx, accelerators), isOneOf(accelerators.nodeId, leaving)))
  add('ACCELERATORS', devices!.count, await namesOf(leaving))
  const jobs = await jobsOn(scope, [...new Set([...leaving, ...moving, ...staying])])
  add('SLURM_JOBS', jobs.count, jobs.names)
  return impact
}

/** Names of nodes whose variables change. */
async function nodesWithVariables({ tx, ctx }: Scope, steps: Step[]): Promise<string[]> {
  const places = steps
    .filter(({ kind, differing, action }) => kind.kind === 'Variables' && (differing.length > 0 || action === 'DELETE'))
    .map(({ item }) => item.name)
  if (places.length === 0) return []
  const tree = await readGroupTree(tx, ctx)
  const groups = places.filter((name) => name.startsWith('group:')).map((name) => name.slice(6))
  const nodes = places.filter((name) => name.startsWith('node:')).map((name) => name.slice(5))
  const isAffected: SQL = places.includes('all')
    ? sql`true`
    : sql`(${isInGroup(tree, groups, computeNodes)} or ${isOneOf(computeNodes.name, nodes, 'text')})`
  const rows = await tx
    .select({ name: computeNodes.name })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isNull(computeNodes.decommissionedAt), isAffected))
  return rows.map(({ name }) => name)
}

async function jobsOn({ tx, ctx }: Scope, nodeIds: string[]): Promise<{ count: number; names: string[] }> {
  if (nodeIds.length === 0) return { count: 0, names: [] }
  const rows = await tx
    .selectDistinct({ job: slurmJobs.id, name: computeNodes.name })
    .from(slurmNodes)
    .innerJoin(computeNodes, eq(computeNodes.id, slurmNodes.nodeId))
    .innerJoin(
      slurmJobs,
      and(
        eq(slurmJobs.clusterId, slurmNodes.clusterId),
        sql`${slurmJobs.nodeNames} @> array[${slurmNodes.name}]`,
        isOneOf(slurmJobs.state, ['RUNNING', 'COMPLETING', 'CONFIGURING', 'SUSPENDED'], 'text'),
      ),
    )
    .where(and(visibleTo(ctx, slurmNodes), isOneOf(slurmNodes.nodeId, nodeIds)))
  return { count: new Set(rows.map(({ job }) => job)).size, names: [...new Set(rows.map(({ name }) => name))] }
}
