import { permissionDeniedReason } from '@muster/core/context'
import { schema } from '@muster/core/registry'
import { logUnavailableReason, retentionPermissions } from '@muster/core/runs'
import { builder } from '../../builder.ts'
import { artifactLink, artifactUnavailableReason } from '../../http/downloads/artifact.ts'
import { JobRun } from '../runs/types.ts'

const { tenants } = schema

const ArtifactKind = builder.enumType('ArtifactKind', {
  description: 'What a kept file is.',
  values: {
    LOG: { value: 'log', description: 'The whole log as text.' },
    FILE: { value: 'file', description: 'What the playbook left in its artifact directory.' },
  } as const,
})

const JobArtifact = builder.drizzleNode('jobArtifacts', {
  name: 'JobArtifact',
  description: 'A file that a run left.',
  select: { columns: { id: true } },
  id: { column: (artifact) => artifact.id },
  fields: (t) => ({
    kind: t.expose('kind', { type: ArtifactKind, description: 'What it is.' }),
    path: t.exposeString('path', { description: "Its path in the run's artifact directory." }),
    size: t.expose('size', { type: 'BigInt', description: 'In bytes.' }),
    sha256: t.exposeString('sha256', { description: 'SHA-256 of its content, hexadecimal.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was kept.' }),
    removedAt: t.expose('removedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was removed because it was older than artifacts are kept.',
    }),
    downloadUrl: t.string({
      nullable: true,
      description: 'An address that gives the file to whoever has it, for 10 minutes; null: see downloadBlockedReason.',
      select: { columns: { id: true, path: true, key: true, store: true, removedAt: true } },
      resolve: (artifact, _args, { deps }) => (artifactUnavailableReason(deps, artifact) ? null : artifactLink(deps, artifact)),
    }),
    downloadBlockedReason: t.string({
      nullable: true,
      description: 'Why it cannot be downloaded; null: it can.',
      select: { columns: { path: true, store: true, removedAt: true } },
      resolve: (artifact, _args, { deps }) => artifactUnavailableReason(deps, artifact),
    }),
  }),
})

builder.drizzleObjectFields(JobRun, (t) => ({
  artifacts: t.relation('artifacts', {
    type: JobArtifact,
    description: 'Its log as it was when it ended, and the files that its playbook left. Empty until it is over.',
    query: { orderBy: { id: 'asc' }, limit: 1001 },
  }),
  logRemovedAt: t.expose('logRemovedAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When its log was removed because it was older than logs are kept; its artifacts may still be there.',
  }),
  logBlockedReason: t.string({
    nullable: true,
    description: 'Why its log cannot be read; null: it can.',
    select: { columns: { logRemovedAt: true } },
    resolve: (run) => logUnavailableReason(run),
  }),
}))

type Retention = typeof tenants.$inferSelect

export const Retention = builder.objectRef<Retention>('Retention').implement({
  description: 'For how many days after the end of a run things are kept; null: for ever.',
  fields: (t) => ({
    logDays: t.exposeInt('logRetentionDays', { nullable: true, description: "A run's log. The run and its hosts stay." }),
    artifactDays: t.exposeInt('artifactRetentionDays', {
      nullable: true,
      description: "A run's artifacts. The list of them stays.",
    }),
    runDays: t.exposeInt('runRetentionDays', { nullable: true, description: 'The run as a whole, with all that belongs to it.' }),
    changeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not change it; null: allowed.',
      resolve: (_tenant, _args, { ctx }) => permissionDeniedReason(ctx.actor, retentionPermissions.write),
    }),
  }),
})
