import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { CaCertificate, endpointOf, HookSecret, type LocalTarget, targetIssues } from '../kernel/outbound/index.ts'
import { openchamiTargetAudit } from './audit-actions.ts'
import { openchamiTargetChanged } from './change-events.ts'
import { openchamiPermissions } from './permissions.ts'
import { type OpenchamiTarget, openchamiTargets, TARGET_MODES } from './tables.ts'
import { resolveTargetAlert } from './target-alert.ts'

/** The address of a service. It is shown, so it has no secret. */
const ServiceUrl = z
  .string()
  .trim()
  .max(500)
  .transform((text, ctx) => {
    const url = URL.parse(text)
    if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.hash && !url.search)
      return url.href.replace(/\/+$/, '')
    ctx.addIssue({ code: 'custom', message: 'must look like https://smd.example.com, without a name, password, ? or #' })
    return z.NEVER
  })

export const SetOpenchamiTargetInput = z.object({
  smdUrl: ServiceUrl.nullish(),
  bssUrl: ServiceUrl.nullish(),
  token: HookSecret.nullish(),
  caCertificate: CaCertificate.nullish(),
  mode: z.enum(TARGET_MODES, 'must be OFF, REPORT or PUSH').nullish(),
  intervalSeconds: z.number().int('must be a whole number').min(60, 'must be at least 60').max(604_800).nullish(),
})
type Fields = z.output<typeof SetOpenchamiTargetInput>

/**
 * Creates the tenant's target, or changes the given fields; null clears a field or restores its default. Its token is encrypted and
 * never returned. A worker compares right afterwards, unless the mode is OFF.
 * @throws InvalidInput
 */
export async function setOpenchamiTarget(
  ctx: Ctx,
  input: z.input<typeof SetOpenchamiTargetInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<OpenchamiTarget> {
  authorize(ctx, openchamiPermissions.write)
  const given = parseInput(SetOpenchamiTargetInput, input)
  const urls = (['smdUrl', 'bssUrl'] as const).flatMap((path) => (given[path] ? [{ path, url: given[path] }] : []))
  const rejected = await targetIssues(
    urls.map(({ path, url }) => ({ path, ...endpointOf(new URL(url)) })),
    localTargets,
  )
  return inTransaction(ctx, async (tx, ctx) => {
    const scope = visibleTo(ctx, openchamiTargets)
    const [before] = await tx.select().from(openchamiTargets).where(scope).for('no key update')
    const id = before?.id ?? newId()
    const values = valuesOf(before, given)
    const issues = [...rejected, ...issuesOf(before, values, given)]
    if (issues.length > 0) throw new InvalidInput(issues)
    const token = given.token && (await ctx.vault.encrypt({ tenantId: ctx.tenantId, objectId: id, field: 'token' }, given.token))
    const encrypted = token ? { token } : given.token === null ? {} : (before?.encrypted ?? {})
    const result = { checkedAt: null, error: null, failingSince: null, differences: [], differenceCount: 0, driftSince: null }
    const changes = {
      ...values,
      ...result,
      encrypted,
      requestedAt: values.mode === 'OFF' ? null : sql`now()`,
      requestedMode: null,
      leasedUntil: null,
      leaseToken: null,
    }
    const [target] = before
      ? await tx
          .update(openchamiTargets)
          .set({ ...changes, updatedAt: sql`now()` })
          .where(eq(openchamiTargets.id, id))
          .returning()
      : await tx
          .insert(openchamiTargets)
          .values({ ...changes, id, tenantId: ctx.tenantId })
          .returning()
    await audit(tx, ctx, openchamiTargetAudit.set, target!, { changed: Object.keys(given) })
    if (values.mode === 'OFF') await resolveTargetAlert(tx, ctx)
    ctx.notify(openchamiTargetChanged({ id, tenantId: ctx.tenantId }))
    return target!
  })
}

type Values = Pick<OpenchamiTarget, 'smdUrl' | 'bssUrl' | 'caCertificate' | 'mode' | 'intervalSeconds'>
const DEFAULTS: Values = {
  smdUrl: null,
  bssUrl: null,
  caCertificate: null,
  mode: 'REPORT',
  intervalSeconds: 3600,
}

function valuesOf(before: OpenchamiTarget | undefined, given: Fields): Values {
  const fields = Object.keys(DEFAULTS) as (keyof Values)[]
  const choose = (field: keyof Values) =>
    given[field] === undefined ? (before ?? DEFAULTS)[field] : (given[field] ?? DEFAULTS[field])
  return Object.fromEntries(fields.map((field) => [field, choose(field)])) as Values
}

function issuesOf(before: OpenchamiTarget | undefined, after: Values, { token }: Fields) {
  if (!after.smdUrl && !after.bssUrl) return [{ path: 'smdUrl', message: 'give the address of SMD, of BSS, or of both' }]
  const known = new Set([before?.smdUrl, before?.bssUrl].flatMap((url) => (url ? [new URL(url).origin] : [])))
  const isNew = [after.smdUrl, after.bssUrl].some((url) => url && !known.has(new URL(url).origin))
  const message = 'is required again when a server changes: the stored one was for the previous server'
  return isNew && before?.encrypted.token && token === undefined ? [{ path: 'token', message }] : []
}
