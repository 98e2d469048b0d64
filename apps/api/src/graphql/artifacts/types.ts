import { auditPermissions } from '@muster/core/audit'
import { permissionDeniedReason } from '@muster/core/context'
import { schema } from '@muster/core/registry'
import { logUnavailableReason, retentionPermissions } from '@muster/core/runs'
import { builder } from '../../builder.ts'
import { artifactLink, artifactUnavailableReason } from '../../http/downloads/artifact.ts'
import { JobRun } from '../runs/types.ts'

const { tenants } = schema

const ArtifactKind = builder.enumType('ArtifactKind', {
  description: 'Kind of an artifact.',
  values: {
    LOG: { value: 'log', description: 'The complete log as text.' },
    FILE: { value: 'file', description: 'A file from the artifact directory of the playbook.' },
  } as const,
})

const JobArtifact = builder.drizzleNode('jobArtifacts', {
  name: 'JobArtifact',
  description: 'A file that a run stored.',
  select: { columns: { id: true } },
  id: { column: (artifact) => artifact.id },
  fields: (t) => ({
    kind: t.expose('kind', { type: ArtifactKind, description: 'Kind.' }),
    path: t.exposeString('path', { description: 'Path relative to the artifact directory of the run.' }),
    sizeBytes: t.expose('size', { type: 'BigInt', description: 'Size in bytes.' }),
    sha256: t.exposeString('sha256', { description: 'SHA-256 of the content in hexadecimal digits.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the file was stored.' }),
    removedAt: t.expose('removedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When retention deleted the file; null while it exists.',
    }),
    downloadUrl: t.string({
      nullable: true,
      description: 'URL that returns the file without a token and expires after 10 minutes; null when it cannot be downloaded.',
      select: { columns: { id: true, path: true, key: true, store: true, removedAt: true } },
      resolve: (artifact, _args, { deps, ctx }) =>
        artifactUnavailableReason(deps, artifact) ? null : artifactLink(deps, artifact, ctx),
    }),
    downloadBlockedReason: t.string({
      nullable: true,
      description: 'Why the file cannot be downloaded; null when allowed.',
      select: { columns: { path: true, store: true, removedAt: true } },
      resolve: (artifact, _args, { deps }) => artifactUnavailableReason(deps, artifact),
    }),
  }),
})

builder.drizzleObjectFields(JobRun, (t) => ({
  artifacts: t.relation('artifacts', {
    type: JobArtifact,
    description: 'The log and the files that the playbook stored. At most 1,001. Empty until the run has ended.',
    query: { orderBy: { id: 'asc' }, limit: 1001 },
  }),
  logRemovedAt: t.expose('logRemovedAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When retention deleted the log; null while it exists. Artifacts have their own retention.',
  }),
  logBlockedReason: t.string({
    nullable: true,
    description: 'Why the log cannot be read; null when allowed.',
    select: { columns: { logRemovedAt: true } },
    resolve: (run) => logUnavailableReason(run),
  }),
}))

type Retention = typeof tenants.$inferSelect

export const Retention = builder.objectRef<Retention>('Retention').implement({
  description: 'Retention of run data in days after the end of the run, and of the audit log; null: forever.',
  fields: (t) => ({
    logDays: t.exposeInt('logRetentionDays', {
      nullable: true,
      description: 'Days to keep logs. Runs and their hosts are kept.',
    }),
    artifactDays: t.exposeInt('artifactRetentionDays', {
      nullable: true,
      description: 'Days to keep artifacts. Their list is kept.',
    }),
    runDays: t.exposeInt('runRetentionDays', { nullable: true, description: 'Days to keep runs with their logs and artifacts.' }),
    auditDays: t.exposeInt('auditRetentionDays', {
      nullable: true,
      description: 'Days to keep entries of the audit log.',
    }),
    updateAuditBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change the retention of the audit log; null when allowed.',
      resolve: (_tenant, _args, { ctx }) =>
        permissionDeniedReason(ctx.actor, retentionPermissions.write) ??
        permissionDeniedReason(ctx.actor, auditPermissions.write),
    }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change the retention; null when allowed.',
      resolve: (_tenant, _args, { ctx }) => permissionDeniedReason(ctx.actor, retentionPermissions.write),
    }),
  }),
})
