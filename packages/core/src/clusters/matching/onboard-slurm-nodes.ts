import { and, asc, eq, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { IdempotencyKey, idempotent } from '../../idempotency/index.ts'
import { authorize, type Ctx } from '../../kernel/context.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { importNodes, nodeImportResult, nodePermissions } from '../../nodes/index.ts'
import { computeNodes } from '../../nodes/tables.ts'
import { expandHostlist } from '../../selection/index.ts'
import { slurmClusterChanged } from '../change-events.ts'
import { slurmClusters, slurmNodes } from '../tables.ts'
import { lockMatches, matchNodes } from './match-nodes.ts'

/** As many rows as one import may have. */
const MAX_NODES = 10_000

export const OnboardSlurmNodesInput = z.object({
  clusterId: Id,
  /** Only these of the unmatched nodes. */
  hostlist: z.string().max(100_000).nullish(),
  credentialId: Id.nullish(),
  becomeCredentialId: Id.nullish(),
  bastionId: Id.nullish(),
  idempotencyKey: IdempotencyKey,
})

type Report = Awaited<ReturnType<typeof importNodes>>

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

/**
 * Adds the nodes of a cluster that are no nodes of the inventory to it, with NodeName and NodeAddr, and matches them. Credentials that
 * are not given are those of the controller's node.
 * @throws NotFound the cluster; Conflict it has no such nodes; as `importNodes`
 */
export async function onboardSlurmNodes(ctx: Ctx, input: z.input<typeof OnboardSlurmNodesInput>): Promise<Report> {
  authorize(ctx, nodePermissions.write)
  const { clusterId, hostlist, idempotencyKey, ...given } = parseInput(OnboardSlurmNodesInput, input)
  const key = {
    verb: 'onboardSlurmNodes',
    key: idempotencyKey,
    input: { clusterId, hostlist, ...given },
    result: nodeImportResult,
  }
  return idempotent(ctx, key, async (tx, ctx) => {
    const [cluster] = await tx
      .select({ name: slurmClusters.name, controller: computeNodes })
      .from(slurmClusters)
      .leftJoin(computeNodes, eq(computeNodes.id, slurmClusters.controllerNodeId))
      .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, clusterId)))
      .for('no key update', { of: slurmClusters })
    if (!cluster) throw new NotFound(`There is no cluster ${clusterId}.`)
    await lockMatches(tx, ctx)
    const unmatched = await tx
      .select({ name: slurmNodes.name, report: slurmNodes.report })
      .from(slurmNodes)
      .where(
        and(
          eq(slurmNodes.clusterId, clusterId),
          isNull(slurmNodes.matchedBy),
          isNull(slurmNodes.matchConflict),
          hostlist ? isOneOf(slurmNodes.name, expandHostlist(hostlist), 'text') : undefined,
        ),
      )
      .orderBy(asc(slurmNodes.name))
      .limit(MAX_NODES)
    if (unmatched.length === 0)
      throw new Conflict(`The cluster ${cluster.name} has no ${hostlist ? 'such unmatched node' : 'unmatched nodes'}.`)
    const { credentialId, becomeCredentialId, bastionId, sshUser } = cluster.controller ?? {}
    const report = await importNodes(ctx, {
      format: 'CSV',
      text: ['name,host', ...unmatched.map(({ name, report }) => `${quoted(name)},${quoted(report.address)}`)].join('\n'),
      defaults: {
        credentialId: given.credentialId ?? credentialId ?? undefined,
        becomeCredentialId: given.becomeCredentialId ?? becomeCredentialId ?? undefined,
        bastionId: given.bastionId ?? bastionId ?? undefined,
        sshUser: given.credentialId ? undefined : (sshUser ?? undefined),
      },
    })
    await matchNodes(tx, ctx, clusterId)
    ctx.notify(slurmClusterChanged({ id: clusterId, tenantId: ctx.tenantId }))
    return report
  })
}
