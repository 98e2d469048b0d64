import { and } from 'drizzle-orm'
import { z } from 'zod'
import {
  addSlurmCluster,
  CLUSTER_FIELDS,
  removeSlurmCluster,
  SLURMRESTD_FIELDS,
  updateSlurmCluster,
} from '../../clusters/index.ts'
import { slurmClusters } from '../../clusters/tables.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { type Kind, Name, type Scope, type Stored, specOf, verbInput } from './kind.ts'

const { name, controllerNodeId: _controller, backupNodeId: _backup, ...plain } = CLUSTER_FIELDS
const { slurmrestdCredentialId: _login, ...slurmrestd } = SLURMRESTD_FIELDS
const REFS = { controllerNode: 'ComputeNode', backupNode: 'ComputeNode', slurmrestdCredential: 'Credential' } as const

const kind = {
  spec: z.strictObject({
    controllerNode: Name.nullish(),
    backupNode: Name.nullish(),
    ...plain,
    reuseConfig: z.boolean().optional(),
    ...slurmrestd,
    slurmrestdCredential: Name.nullish(),
  }),
  defaults: { reuseConfig: true },
}

async function read({ tx, ctx, lookup }: Scope, names: string[] | null): Promise<Stored[]> {
  const rows = await tx
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), names ? isOneOf(slurmClusters.name, names, 'text') : undefined))
  const stored: Stored[] = []
  for (const row of rows) {
    const spec = specOf(kind, {
      ...row,
      controllerNode: await lookup.name('ComputeNode', row.controllerNodeId),
      backupNode: await lookup.name('ComputeNode', row.backupNodeId),
      slurmrestdCredential: await lookup.name('Credential', row.slurmrestdCredentialId),
    })
    stored.push({ id: row.id, name: row.name, spec })
  }
  return stored
}

export const slurmCluster: Kind = {
  ...kind,
  kind: 'SlurmCluster',
  description: 'A Slurm cluster that Muster reads. A manifest changes fields of a managed cluster, but does not create one.',
  name,
  read,
  async create(scope, { name, spec }) {
    const input = await verbInput(scope, { refs: REFS }, spec)
    return (await addSlurmCluster(scope.ctx, { name, ...input } as Parameters<typeof addSlurmCluster>[1])).id
  },
  async update(scope, { stored, changed }) {
    await updateSlurmCluster(scope.ctx, {
      id: stored.id,
      ...(await verbInput(scope, { refs: REFS, defaults: kind.defaults }, changed)),
    })
  },
  remove: async ({ ctx }, { id }) => void (await removeSlurmCluster(ctx, { id })),
}
