import {
  CONFIG_FILES,
  ConfigChangeError,
  type ConfigFiles,
  type ConfigProblem,
  type ConfigSettings,
  changeConfig,
  checkConfig,
  snippetNames,
} from '@muster/slurm/config'
import { and, desc, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { slurmClusterChanged } from '../clusters/change-events.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import { type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { Conflict, InvalidInput, NotFound } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { lockCluster } from '../slurm-operations/index.ts'
import { slurmConfigAudit } from './audit-actions.ts'
import { type ConfigOrigin, type SlurmConfigVersion, slurmConfigVersions } from './tables.ts'

/** Slurm's own files are a few hundred kilobytes at most, with a line per node. */
const MAX_LENGTH = 1_000_000
const FileText = z
  .string()
  .max(MAX_LENGTH, `must have at most ${MAX_LENGTH} characters`)
  .refine((text) => !/[\u0000-\u0008\u000e-\u001f]/.test(text), 'must not contain control characters')

export const ConfigFilesInput = z.strictObject({
  'slurm.conf': FileText,
  'gres.conf': FileText.optional(),
  'cgroup.conf': FileText.optional(),
  'topology.conf': FileText.optional(),
})

/** Each one reads all lines of its file. */
const MAX_CHANGES = 100

/** Changes of keys instead of an edited text. */
export const ConfigChangesInput = z
  .array(
    z
      .strictObject({
        partition: singleLineText(255).nullish(),
        nodes: singleLineText(10_000).nullish(),
        key: singleLineText(100),
        value: z.string().max(10_000).nullable(),
      })
      .refine(({ partition, nodes }) => !partition || !nodes, 'name a partition or nodes, not both'),
  )
  .min(1, 'name at least one key')
  .max(MAX_CHANGES, `at most ${MAX_CHANGES} changes`)

/** @throws InvalidInput a change is not possible */
export function applyChanges(files: ConfigFiles, changes: z.output<typeof ConfigChangesInput>): ConfigFiles {
  try {
    return changeConfig(files, changes)
  } catch (error) {
    if (!(error instanceof ConfigChangeError)) throw error
    throw new InvalidInput([{ path: `changes.${error.index}`, message: error.message }])
  }
}

export type NewConfigVersion = {
  clusterId: string
  /** The version that the files come from: for an edit the newest one, which its author has seen. Null when there is none. */
  basedOn: number | null
  files: ConfigFiles
  settings?: ConfigSettings | null
  origin: ConfigOrigin
  reason: string
  /** Who asked for it, when it is not the caller. */
  createdBy?: Pick<SlurmConfigVersion, 'createdById' | 'createdByName'>
}

/**
 * Stores the next version of a configuration in the transaction of a verb, which has authorized its caller.
 * @throws NotFound the cluster; Conflict an edit is not based on the newest version
 */
export async function createConfigVersion(tx: Tx, ctx: Ctx, version: NewConfigVersion): Promise<SlurmConfigVersion> {
  const { clusterId, basedOn, createdBy: author = createdBy(ctx), files, settings = null, origin, reason } = version
  const cluster = await lockCluster(tx, ctx, clusterId)
  const newest = await newestConfigVersion(tx, clusterId)
  if (origin === 'EDITED' && newest?.number !== basedOn)
    throw new Conflict(
      newest
        ? `${newest.createdByName} saved version ${newest.number} of the configuration of ${cluster.name} meanwhile. Compare it with yours, and save again, based on it.`
        : `The cluster ${cluster.name} has no version ${basedOn} of its configuration.`,
    )
  const [row] = await tx
    .insert(slurmConfigVersions)
    .values({
      ...author,
      tenantId: ctx.tenantId,
      clusterId,
      number: (newest?.number ?? 0) + 1,
      files,
      snippets: snippetNames(files),
      settings,
      origin,
      basedOn,
      reason,
    })
    .returning()
  const details = { number: row!.number, origin, basedOn }
  await audit(tx, ctx, slurmConfigAudit.create, { id: row!.id, name: cluster.name }, details, { reason })
  ctx.notify(slurmClusterChanged(cluster))
  return row!
}

type Db = Tx | Ctx['db']

export async function newestConfigVersion(db: Db, clusterId: string): Promise<SlurmConfigVersion | null> {
  const [row] = await db
    .select()
    .from(slurmConfigVersions)
    .where(eq(slurmConfigVersions.clusterId, clusterId))
    .orderBy(desc(slurmConfigVersions.number))
    .limit(1)
  return row ?? null
}

/** @throws NotFound */
export async function findConfigVersion(
  db: Db,
  { id, name }: Pick<SlurmCluster, 'id' | 'name'>,
  number: number,
): Promise<SlurmConfigVersion> {
  const [row] = await db
    .select()
    .from(slurmConfigVersions)
    .where(and(eq(slurmConfigVersions.clusterId, id), eq(slurmConfigVersions.number, number)))
  if (!row) throw new NotFound(`The cluster ${name} has no version ${number} of its configuration.`)
  return row
}

/** The files that the hosts should have: the version that was rolled out last. Null before the first one. */
export const rolledOutVersion = async (db: Db, cluster: SlurmCluster): Promise<SlurmConfigVersion | null> =>
  cluster.configNumber === null ? null : findConfigVersion(db, cluster, cluster.configNumber)

/** Slurm's release on the controllers. The oldest known one is assumed before the first refresh. */
export const releaseOf = ({ version }: Pick<SlurmCluster, 'version'>): string => version ?? '20.11'

/** Errors that `from` does not have. Those that it has already do not block other changes. */
export function newErrors(from: ConfigFiles | null, to: ConfigFiles, release: string): ConfigProblem[] {
  const known = new Set((from ? checkConfig(from, release) : []).map(({ file, message }) => `${file}: ${message}`))
  return checkConfig(to, release).filter(
    ({ severity, file, message }) => severity === 'ERROR' && !known.has(`${file}: ${message}`),
  )
}

/** @throws InvalidInput naming each problem with its file and line */
export function assertNoNewErrors(from: ConfigFiles | null, to: ConfigFiles, release: string): void {
  const problems = newErrors(from, to, release)
  if (problems.length === 0) return
  throw new InvalidInput(
    problems.slice(0, 20).map(({ file, line, message }) => ({ path: line === null ? file : `${file}:${line}`, message })),
  )
}

export const sameFiles = (a: ConfigFiles, b: ConfigFiles): boolean => CONFIG_FILES.every((file) => a[file] === b[file])
