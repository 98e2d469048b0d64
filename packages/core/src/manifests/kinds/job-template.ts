import { and } from 'drizzle-orm'
import { z } from 'zod'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import {
  archiveJobTemplate,
  createJobTemplate,
  restoreJobTemplate,
  TEMPLATE_DEFAULTS,
  TEMPLATE_FIELDS,
  updateJobTemplate,
} from '../../templates/index.ts'
import { jobTemplates } from '../../templates/tables.ts'
import { type Kind, Name, type Scope, type Stored, specOf, verbInput } from './kind.ts'

const { name, bundleId: _bundle, gitCredentialId: _login, ...plain } = TEMPLATE_FIELDS
const { bundleId: _noBundle, gitCredentialId: _noLogin, ...defaults } = TEMPLATE_DEFAULTS
const REFS = { gitCredential: 'Credential' } as const

const kind = {
  spec: z.strictObject({ ...z.object(plain).partial().shape, gitCredential: Name.nullish() }),
  raw: ['inputSchema', 'defaultVars', 'serial'],
  defaults: Object.fromEntries(Object.entries(defaults).filter(([, value]) => value !== null)),
}

async function read({ tx, ctx, lookup }: Scope, names: string[] | null): Promise<Stored[]> {
  const rows = await tx
    .select()
    .from(jobTemplates)
    .where(and(visibleTo(ctx, jobTemplates), names ? isOneOf(jobTemplates.name, names, 'text') : undefined))
  const stored: Stored[] = []
  for (const row of rows) {
    const spec = specOf(kind, {
      ...row,
      displayName: row.displayName === row.name ? null : row.displayName,
      gitCredential: await lookup.name('Credential', row.gitCredentialId),
    })
    const unmanagedReason = row.isSystem
      ? 'is built in'
      : row.source === 'bundle'
        ? 'has an uploaded playbook, which manifests do not contain'
        : null
    stored.push({
      ...{ id: row.id, name: row.name, spec, version: row.version },
      ...(row.archivedAt ? { isRetired: true } : {}),
      ...(unmanagedReason ? { unmanagedReason } : {}),
    })
  }
  return stored
}

export const jobTemplate: Kind = {
  ...kind,
  kind: 'JobTemplate',
  description: 'A playbook with its settings.',
  name,
  hints: { bundleId: 'manifests contain no uploaded playbooks; use the source git or shipped' },
  normalize: (spec, stored) =>
    spec.displayName !== undefined && spec.displayName === stored?.name
      ? Object.fromEntries(Object.entries(spec).filter(([key]) => key !== 'displayName'))
      : spec,
  read,
  async create(scope, { name, spec }) {
    const input = await verbInput(scope, { refs: REFS }, spec)
    return (await createJobTemplate(scope.ctx, { name, ...input } as Parameters<typeof createJobTemplate>[1])).id
  },
  async update(scope, { stored: { id, name, version }, changed }) {
    const presets = { ...kind.defaults, displayName: name }
    const input = await verbInput(scope, { refs: REFS, defaults: presets }, changed)
    await updateJobTemplate(scope.ctx, { id, version: version!, ...input })
  },
  restore: async ({ ctx }, { id }) => void (await restoreJobTemplate(ctx, { id })),
  remove: async ({ ctx }, { id }) => void (await archiveJobTemplate(ctx, { id })),
}
