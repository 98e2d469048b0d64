import { type ConfigNode, type ConfigSettings, extraLineProblem } from '@muster/slurm/config'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { slurmClusterAudit } from '../clusters/audit-actions.ts'
import { slurmClusterChanged } from '../clusters/change-events.ts'
import { ProgramFolder, SALT_FIELDS, saltColumns } from '../clusters/index.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx, createdBy } from '../kernel/context.ts'
import { nameTaken } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id, Ids, singleLineText } from '../kernel/input.ts'
import { insertOperation, type SlurmOperation, slurmOperations } from '../slurm-operations/index.ts'
import { assertUnblocked, findCandidates, lockCandidates, type ScaleCandidate, ShardsPerGpu } from './candidates.ts'
import { withShards } from './config-node.ts'
import { slurmScalePermissions } from './permissions.ts'

/** The oldest release of the packages that distributions have, from Debian 12 on. The lines are checked again by the installed release. */
const RELEASES = ['22.05', '23.11', '24.11', '25.11', '26.05']
/** It appears in logs and in the audit log. */
const Url = singleLineText(500)
  .regex(/^(https?|file):\/\/[^ {}]+$/, 'must be a URL')
  .refine((text) => !/^[a-z]+:\/\/[^/]*@/.test(text), 'must have no user name or password')

function splitHost(text: string): Pick<ConfigSettings, 'accountingHost' | 'accountingPort'> {
  const [host, port] = text.split(':')
  return { accountingHost: host!, accountingPort: port === undefined ? null : Number(port) }
}
const isPort = (port: number) => port >= 1 && port <= 65_535

/**
 * NONE: jobs are not recorded. EXISTING: a slurmdbd that Muster does not change, as host or host:port. MANAGED: slurmdbd and MariaDB are
 * installed on a node, which may be the controller.
 */
const Accounting = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('NONE') }),
  z.object({
    kind: z.literal('EXISTING'),
    host: singleLineText(255)
      .regex(/^[A-Za-z0-9][A-Za-z0-9.-]*(:\d{1,5})?$/, 'must be a host, or host:port')
      .refine((text) => isPort(splitHost(text).accountingPort ?? 1), 'the port must be 1 to 65535'),
  }),
  z.object({ kind: z.literal('MANAGED'), nodeId: Id }),
])

export const CreateSlurmClusterInput = z.object({
  /** Name in Muster, and ClusterName: letters, digits, - and _. */
  name: singleLineText(40).regex(/^[a-z][a-z0-9_-]*$/, 'must begin with a lower-case letter and contain only a-z, 0-9, - and _'),
  region: singleLineText(100).nullish(),
  controllerNodeId: Id,
  backupNodeId: Id.nullish(),
  computeNodeIds: Ids.refine((ids) => ids.length > 0, 'name at least one node'),
  loginNodeIds: Ids.default([]),
  partition: singleLineText(64)
    .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/, 'must be a name of a partition')
    .default('batch'),
  maxNodes: z.int().min(1).max(100_000).nullish(),
  /** Folder of the controllers' state. With a backup it must be on storage that both controllers share. */
  stateFolder: singleLineText(200)
    .regex(/^(\/[0-9A-Za-z_-][0-9A-Za-z._-]*){2,}$/, 'must be an absolute path with at least two folders, such as /shared/slurm')
    .nullish(),
  /** Folder with an installed Slurm, such as /opt/slurm. */
  prefix: ProgramFolder.nullish(),
  accounting: Accounting.default({ kind: 'NONE' }),
  repositoryUrl: Url.nullish(),
  repositoryKey: Url.nullish(),
  /** Further lines of slurm.conf. */
  extraLines: z.array(singleLineText(1000)).max(200).default([]),
  shardsPerGpu: ShardsPerGpu,
  ...SALT_FIELDS,
  reason: singleLineText(200),
  idempotencyKey: IdempotencyKey,
})

/** What the operation stores and its steps use. */
export type CreatePlan = {
  controllers: { nodeId: string; name: string; address: string }[]
  login: { nodeId: string; name: string }[]
  nodes: (ConfigNode & { nodeId: string })[]
  /** The node that gets slurmdbd and MariaDB; null for none. */
  database: { nodeId: string; name: string } | null
  settings: ConfigSettings
}

/**
 * Creates a managed cluster from READY nodes: adds it, and starts an operation that installs Slurm on them.
 * @throws NotFound a node; Conflict the name is taken; InvalidInput naming each node that cannot join, or a line that is not possible
 */
export async function createSlurmCluster(ctx: Ctx, input: z.input<typeof CreateSlurmClusterInput>): Promise<SlurmOperation> {
  authorize(ctx, slurmScalePermissions.nodes)
  const { idempotencyKey, reason, ...given } = parseInput(CreateSlurmClusterInput, input)
  const key = { verb: 'createSlurmCluster', key: idempotencyKey, input: { ...given, reason }, result: oneRow(slurmOperations) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const salt = await saltColumns(tx, ctx, given)
    const controllerIds = [given.controllerNodeId, ...(given.backupNodeId ? [given.backupNodeId] : [])]
    const { accounting } = given
    const databaseNodeId = accounting.kind === 'MANAGED' ? accounting.nodeId : null
    const others = [...given.computeNodeIds, ...given.loginNodeIds, ...(databaseNodeId ? [databaseNodeId] : [])]
    const all = [...new Set([...controllerIds, ...others])]
    await lockCandidates(tx, ctx, all)
    const candidates = await findCandidates(tx, ctx, all, new Set(), 'computeNodeIds')
    checkFields(given)
    assertUnblocked(candidates, 'computeNodeIds')
    assertSwitches(candidates.filter(({ node }) => given.computeNodeIds.includes(node.id)))
    const of = (ids: string[]) => ids.map((id) => candidates.find(({ node }) => node.id === id)!)
    const controllers = of(controllerIds).map(({ node, config }) => ({
      nodeId: node.id,
      name: config!.name,
      address: node.host,
    }))
    const [database] = of(databaseNodeId ? [databaseNodeId] : [])
    const slurmdbd =
      accounting.kind === 'EXISTING'
        ? splitHost(accounting.host)
        : { accountingHost: database?.node.host ?? null, accountingPort: null }
    const plan: CreatePlan = {
      controllers,
      database: database ? { nodeId: database.node.id, name: database.config!.name } : null,
      login: of(given.loginNodeIds).map(({ node, config }) => ({ nodeId: node.id, name: config!.name })),
      nodes: of(given.computeNodeIds).map(({ node, config }) => ({
        ...withShards(config!, given.shardsPerGpu),
        nodeId: node.id,
      })),
      settings: {
        clusterName: given.name,
        controllers: controllers.map(({ name, address }) => ({ name, address })),
        slurmUser: 'slurm',
        stateFolder: given.stateFolder ?? '/var/spool/slurmctld',
        partitions: [{ name: given.partition, isDefault: true, maxTimeMinutes: null }],
        ...slurmdbd,
        extraLines: given.extraLines,
      },
    }
    const [cluster] = await tx
      .insert(slurmClusters)
      .values({
        tenantId: ctx.tenantId,
        name: given.name,
        kind: 'MANAGED',
        region: given.region ?? null,
        controllerNodeId: given.controllerNodeId,
        backupNodeId: given.backupNodeId ?? null,
        programFolder: given.prefix ? `${given.prefix}/bin` : null,
        ...{ reuseConfig: false, reuseMungeKey: false, reuseDatabase: databaseNodeId === null },
        databaseNodeId,
        maxNodes: given.maxNodes ?? null,
        install: {
          prefix: given.prefix ?? null,
          repositoryUrl: given.repositoryUrl ?? null,
          repositoryKey: given.repositoryKey ?? null,
        },
        ...salt,
        // Read after its creation.
        nextRefreshAt: new Date(Date.now() + CREATION_MS),
        ...createdBy(ctx),
      })
      .onConflictDoNothing()
      .returning()
    if (!cluster) throw nameTaken('cluster', given.name)
    await tx.update(slurmClusters).set({ configNodeIds: given.loginNodeIds }).where(eq(slurmClusters.id, cluster.id))
    await audit(tx, ctx, slurmClusterAudit.add, cluster, {}, { reason })
    ctx.notify(slurmClusterChanged(cluster))
    return insertOperation(tx, ctx, {
      clusterId: cluster.id,
      kind: 'CREATE',
      input: { partition: given.partition, accounting: accounting.kind },
      plan,
      reason,
      nodes: plan.nodes.map(({ nodeId, name }) => ({ nodeId, name })),
    })
  })
}

/** @throws InvalidInput some nodes have a switch and others do not */
function assertSwitches(compute: ScaleCandidate[]): void {
  const without = compute.filter(({ config }) => config?.switchName == null)
  if (without.length === 0 || without.length === compute.length) return
  const names = without.slice(0, 10).map(({ node }) => node.name)
  const message = `${names.join(', ')}: no label \`switch\`, but other nodes have one; set it on all or none`
  throw new InvalidInput([{ path: 'computeNodeIds', message }])
}

/** The end of the operation asks for a refresh at once. */
const CREATION_MS = 24 * 3600 * 1000

function checkFields({
  backupNodeId,
  controllerNodeId,
  stateFolder,
  computeNodeIds,
  loginNodeIds,
  accounting,
  extraLines,
}: Omit<z.output<typeof CreateSlurmClusterInput>, 'reason' | 'idempotencyKey'>): void {
  const issues: { path: string; message: string }[] = []
  if (backupNodeId && !stateFolder)
    issues.push({ path: 'stateFolder', message: 'is required with a backup: a folder on storage that both controllers share' })
  const database = accounting.kind === 'MANAGED' && accounting.nodeId !== controllerNodeId ? [accounting.nodeId] : []
  const roles = [controllerNodeId, ...(backupNodeId ? [backupNodeId] : []), ...computeNodeIds, ...loginNodeIds, ...database]
  if (new Set(roles).size < roles.length)
    issues.push({
      path: 'computeNodeIds',
      message: 'a node can have one role only: controller, backup, compute or login; accounting may be on the controller',
    })
  extraLines.forEach((line, index) => {
    const problems = RELEASES.map((release) => extraLineProblem(line, release))
    const [problem] = problems
    if (problem && !problems.includes(null)) issues.push({ path: `extraLines.${index}`, message: problem })
  })
  if (issues.length > 0) throw new InvalidInput(issues)
}
