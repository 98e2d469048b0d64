import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { jobTemplateAudit } from './audit-actions.ts'
import { templatePermissions } from './permissions.ts'
import { type JobTemplate, jobTemplates, type TemplateSnapshot } from './tables.ts'
import { Reason, TEMPLATE_FIELDS, withoutOtherSources } from './template-fields.ts'
import { checkTemplate, persistVersions, unlessTaken } from './template-versions.ts'

/** Values of omitted fields. */
export const TEMPLATE_DEFAULTS = {
  description: '',
  category: 'custom',
  source: 'shipped',
  bundleId: null,
  gitUrl: null,
  gitRef: null,
  gitCredentialId: null,
  become: false,
  becomeMethod: 'sudo',
  becomeUser: 'root',
  timeoutSeconds: 3600,
  forks: 20,
  serial: null,
  maxFailPercentage: null,
  jobTags: [],
  skipTags: [],
  inputSchema: null,
  defaultVars: {},
  tags: [],
  isIdempotent: false,
  isReadOnly: false,
} satisfies Partial<TemplateSnapshot>

const { name, playbookPath } = TEMPLATE_FIELDS
export const CreateJobTemplateInput = z.object({
  ...z.object(TEMPLATE_FIELDS).partial().shape,
  name,
  playbookPath,
  reason: Reason,
  idempotencyKey: IdempotencyKey,
})

/**
 * Creates a template. Admins only, because a playbook runs commands on nodes and on workers.
 * @throws InvalidInput, Conflict the name is taken
 */
export async function createJobTemplate(ctx: Ctx, input: z.input<typeof CreateJobTemplateInput>): Promise<JobTemplate> {
  authorize(ctx, templatePermissions.write)
  const { reason, idempotencyKey, ...fields } = parseInput(CreateJobTemplateInput, input)
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as typeof fields
  const template: TemplateSnapshot = withoutOtherSources({
    displayName: fields.name,
    ...TEMPLATE_DEFAULTS,
    ...given,
  } as TemplateSnapshot)
  return idempotent(
    ctx,
    { verb: 'createJobTemplate', key: idempotencyKey, input: { ...given, reason }, result: oneRow(jobTemplates) },
    async (tx) => {
      await checkTemplate(tx, ctx, template)
      const [created] = await tx
        .insert(jobTemplates)
        .values({ ...template, tenantId: ctx.tenantId })
        .returning()
      await persistVersions(tx, ctx, [created!], reason)
      await audit(tx, ctx, jobTemplateAudit.create, created!, { source: created!.source })
      return created!
    },
  ).catch(unlessTaken(fields.name))
}
