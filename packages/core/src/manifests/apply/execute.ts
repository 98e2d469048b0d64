import { hash } from 'node:crypto'
import { and, sql } from 'drizzle-orm'
import { audit } from '../../audit/index.ts'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { type Ctx, createdBy, inTransaction, type Tx } from '../../kernel/context.ts'
import { newId } from '../../kernel/db/columns.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { DomainError, type InputIssue, InvalidInput } from '../../kernel/errors.ts'
import type { LocalTarget } from '../../kernel/outbound/index.ts'
import { foldHostlist } from '../../selection/index.ts'
import { manifestAudit } from '../audit-actions.ts'
import { type Item, isReferable, type Kind, Lookup, type Scope } from '../kinds/index.ts'
import { MAX_ISSUES } from '../parse/issue.ts'
import type { Manifests } from '../parse/parse-manifests.ts'
import { type ManifestObjectRow, manifestObjects } from '../tables.ts'
import { compareAll, type Step } from './compare.ts'
import { foldChanges } from './fold.ts'
import { impactOf, readBootRevisions } from './impact.ts'
import type { Options } from './input.ts'
import { MAX_CHANGES, MAX_CONFLICTS, type ManifestPlan } from './result.ts'

/** As many as a verb for many nodes accepts. */
const ITEMS_PER_CALL = 10_000

/** A plan of manifests with issues, for which nothing is compared. */
export const planOfIssues = ({ issues, issueCount, warnings }: Manifests, { owner }: Options): ManifestPlan => ({
  owner,
  isApplied: false,
  fingerprint: null,
  ...{ createCount: 0, updateCount: 0, deleteCount: 0, unchangedCount: 0, nodes: '', nodeCount: 0 },
  ...{ changes: [], changeCount: 0, impact: [], conflicts: [], conflictCount: 0 },
  ...{ issues, issueCount, warnings },
})

/**
 * Compares the manifests with the stored objects and calls the verbs of all changes. The caller rolls the transaction back for a plan, and
 * when the result has issues or conflicts. Invocations in a tenant run one after the other.
 */
export async function execute(
  tx: Tx,
  ctx: Ctx,
  manifests: Manifests,
  options: Options,
  localTargets: readonly LocalTarget[],
): Promise<ManifestPlan> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`manifests of ${ctx.tenantId}`}, 0))`)
  const scope: Scope = { tx, ctx, lookup: new Lookup(tx, ctx), localTargets }
  const steps = await compareAll(scope, manifests.objects, options)
  const plan = { ...planOfIssues(manifests, options), ...summaryOf(steps) }
  const conflicts = steps.flatMap((step) => step.conflicts)
  plan.conflicts = conflicts.slice(0, MAX_CONFLICTS)
  plan.conflictCount = conflicts.length
  // Verbs would fail at objects that a conflict excludes.
  if (conflicts.length > 0) return plan
  const boots = await readBootRevisions(scope, steps)
  const run = new Run(scope, plan)
  await run.all(steps)
  if (plan.issueCount > 0) return plan
  plan.impact = await impactOf(scope, steps, boots)
  plan.fingerprint = fingerprintOf(steps, options)
  await writeOwners(scope, steps, options.owner, run.ids)
  const { createCount, updateCount, deleteCount } = plan
  if (createCount + updateCount + deleteCount > 0)
    await audit(
      tx,
      ctx,
      manifestAudit.apply,
      { id: null, name: options.owner },
      { created: createCount, changed: updateCount, deleted: deleteCount, forced: options.forceConflicts },
    )
  return plan
}

function summaryOf(steps: Step[]) {
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length
  const changes = foldChanges(steps)
  const nodes = steps.filter(({ kind, object }) => kind.kind === 'ComputeNode' && object).map(({ item }) => item.name)
  return {
    ...{ createCount: count('CREATE'), updateCount: count('UPDATE'), deleteCount: count('DELETE') },
    unchangedCount: steps.filter(({ action, object }) => action === 'UNCHANGED' && object).length,
    ...{ nodes: foldHostlist(nodes), nodeCount: nodes.length },
    changes: changes.slice(0, MAX_CHANGES),
    changeCount: changes.length,
  }
}

function fingerprintOf(steps: Step[], { owner }: Options): string {
  const changes = steps
    .filter(({ action }) => action !== 'UNCHANGED')
    .map(({ action, kind, item, differing, before, after }) => [
      ...[action, kind.kind, item.name],
      differing.map((path) => [path, before.get(path) ?? null, after.get(path) ?? null]),
    ])
  return hash('sha256', canonicalJson([owner, changes]), 'base64url').slice(0, 22)
}

/** Calls the verbs, each in a savepoint, and collects their errors. */
class Run {
  /** IDs of objects by kind and name. */
  readonly ids = new Map<string, string>()
  private readonly scope: Scope
  private readonly plan: ManifestPlan

  constructor(scope: Scope, plan: ManifestPlan) {
    this.scope = scope
    this.plan = plan
  }

  async all(steps: Step[]): Promise<void> {
    const byKind = [...Map.groupBy(steps, ({ kind }) => kind)]
    for (const [kind, some] of byKind) {
      await this.update(
        kind,
        some.filter(({ action }) => action === 'UPDATE'),
      )
      await this.create(
        kind,
        some.filter(({ action }) => action === 'CREATE'),
      )
    }
    for (const [kind, some] of byKind)
      if (kind.finish)
        for (const step of some)
          if (step.action === 'CREATE' || step.action === 'UPDATE')
            await this.one(step, (scope) => kind.finish!(scope, step.item, this.idOf(step)))
    for (const [kind, some] of byKind.reverse())
      await this.remove(
        kind,
        some.filter(({ action }) => action === 'DELETE'),
      )
  }

  private idOf = ({ kind, item }: Step): string => item.stored?.id ?? this.ids.get(`${kind.kind}/${item.name}`) ?? ''

  private async update(kind: Kind, steps: Step[]): Promise<void> {
    const isPlain = (step: Step) => kind.updateAll && kind.isPlainUpdate!(stored(step))
    const { many = [], single = [] } = Object.groupBy(steps, (step) => (isPlain(step) ? 'many' : 'single'))
    await this.inBulk(many, (scope, some) => kind.updateAll!(scope, some.map(stored)))
    for (const step of single)
      await this.one(step, async (scope) => {
        const item = stored(step)
        if (item.stored.isRetired) await kind.restore!(scope, item.stored)
        if (step.differing.length > 0) await kind.update(scope, item)
      })
  }

  private async create(kind: Kind, steps: Step[]): Promise<void> {
    if (!kind.createAll) {
      for (const step of parentsFirst(steps))
        await this.one(step, async (scope) => this.created(kind, step.item, await kind.create(scope, step.item)))
      return
    }
    await this.inBulk(steps, async (scope, some) => {
      const items = some.map(({ item }) => item)
      for (const [name, id] of await kind.createAll!(scope, items)) this.created(kind, { name }, id)
    })
  }

  private async remove(kind: Kind, steps: Step[]): Promise<void> {
    const storedOf = ({ item }: Step) => item.stored!
    if (kind.removeAll) return this.inBulk(steps, (scope, some) => kind.removeAll!(scope, some.map(storedOf)))
    for (const step of childrenFirst(steps)) await this.one(step, (scope) => kind.remove(scope, storedOf(step)))
  }

  private async inBulk(steps: Step[], work: (scope: Scope, some: Step[]) => Promise<void>): Promise<void> {
    for (let i = 0; i < steps.length; i += ITEMS_PER_CALL) {
      const some = steps.slice(i, i + ITEMS_PER_CALL)
      const error = await this.attempt((scope) => work(scope, some))
      if (error instanceof InvalidInput)
        for (const issue of error.issues) {
          const [, index = '0', path = ''] = /^nodes\.(\d+)\.?(.*)$/.exec(issue.path) ?? ['', '0', issue.path]
          this.report(some[Number(index)]!, { ...issue, path })
        }
      else if (error && !(await this.reportFailing(some, work))) this.report(some[0]!, { path: '', message: error.message })
    }
  }

  /**
   * Repeats a failed call with its halves, down to the items that fail alone: the error does not name them. Invalid input is no reason,
   * because the whole call accepted it: items can exchange values only together.
   * @returns whether an item was reported
   */
  private async reportFailing(steps: Step[], work: (scope: Scope, some: Step[]) => Promise<void>): Promise<boolean> {
    const middle = Math.ceil(steps.length / 2)
    let isReported = false
    for (const half of [steps.slice(0, middle), steps.slice(middle)]) {
      if (half.length === 0 || this.plan.issueCount >= MAX_ISSUES) continue
      const error = await this.attempt((scope) => work(scope, half))
      if (error && half.length > 1) isReported = (await this.reportFailing(half, work)) || isReported
      else if (error && !(error instanceof InvalidInput)) {
        this.report(half[0]!, { path: '', message: error.message })
        isReported = true
      }
    }
    return isReported
  }

  private created(kind: Kind, { name }: Pick<Item, 'name'>, id: string): void {
    this.ids.set(`${kind.kind}/${name}`, id)
    if (isReferable(kind.kind)) this.scope.lookup.add(kind.kind, name, id)
  }

  private async one(step: Step, work: (scope: Scope) => Promise<unknown>): Promise<void> {
    const error = await this.attempt(work)
    if (!error) return
    const issues = error instanceof InvalidInput ? error.issues : [{ path: '', message: error.message }]
    for (const issue of issues) this.report(step, issue)
  }

  /** @returns the error after which nothing of the work is left */
  private async attempt(work: (scope: Scope) => Promise<unknown>): Promise<DomainError | null> {
    try {
      await inTransaction(this.scope.ctx, (tx, ctx) => work({ ...this.scope, tx, ctx }))
      return null
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      return error
    }
  }

  private report({ kind, item, object }: Step, { path, message }: InputIssue): void {
    if (this.plan.issueCount++ >= MAX_ISSUES) return
    // Verbs take IDs where manifests have names.
    const field = path.replace(/Ids?(?=\.|$)/, '')
    const full = path.startsWith('metadata') ? path : path === '' || path === 'name' ? 'metadata.name' : `spec.${field}`
    this.plan.issues.push({
      file: object?.source.file ?? '',
      document: object?.source.document ?? 0,
      ...(object?.source.at(full) ?? { line: 0, column: 0 }),
      path: full,
      message: `${kind.kind}/${item.name}: ${message}`,
      allowed: [],
    })
  }
}

/** The item of a change. */
const stored = ({ item }: Step) => ({ ...item, stored: item.stored! })

/** Objects after those of the same kind that they refer to. */
function parentsFirst(steps: Step[]): Step[] {
  const byName = new Map(steps.map((step) => [step.item.name, step]))
  const done = new Set<Step>()
  const visit = (step: Step, above: Set<Step>) => {
    if (done.has(step) || above.has(step)) return
    for (const name of step.kind.dependsOn?.(step.item.spec) ?? []) {
      const other = byName.get(name)
      if (other) visit(other, new Set([...above, step]))
    }
    done.add(step)
  }
  for (const step of steps) visit(step, new Set())
  return [...done]
}
const childrenFirst = (steps: Step[]): Step[] => parentsFirst(steps).reverse()

/** Writes which owner has which fields, only where that changes. */
async function writeOwners({ tx, ctx }: Scope, steps: Step[], owner: string, ids: Map<string, string>): Promise<void> {
  const rows: Pick<ManifestObjectRow, 'id' | 'owner' | 'kind' | 'objectId' | 'fields' | 'createdById' | 'createdByName'>[] = []
  const gone: string[] = []
  for (const { kind, item, object, owned, owners, differing } of steps) {
    const own = owners.get(owner)
    if (!object) {
      if (own) gone.push(own.id)
      continue
    }
    const objectId = item.stored?.id ?? ids.get(`${kind.kind}/${item.name}`)!
    const base = { kind: kind.kind, objectId, ...createdBy(ctx) }
    if (!own || canonicalJson(own.fields) !== canonicalJson(owned)) rows.push({ ...base, id: newId(), owner, fields: owned })
    for (const [name, other] of owners) {
      // A field with another value now belongs to this owner.
      const left = Object.entries(other.fields).filter(([path]) => !differing.includes(path))
      if (name !== owner && left.length < Object.keys(other.fields).length)
        rows.push({ ...base, id: newId(), owner: name, fields: Object.fromEntries(left) })
    }
  }
  // JSON, because building statements with a parameter per value takes most of the time for thousands of rows.
  if (rows.length > 0)
    await tx.execute(sql`
      insert into ${manifestObjects} (id, tenant_id, owner, kind, object_id, fields, created_by_id, created_by_name)
      select id, ${ctx.tenantId}::uuid, owner, kind, "objectId", fields, "createdById", "createdByName"
      from json_to_recordset(${JSON.stringify(rows)}::json) as r(id uuid, owner text, kind text, "objectId" uuid, fields jsonb, "createdById" uuid, "createdByName" text)
      on conflict (tenant_id, kind, object_id, owner) do update set fields = excluded.fields, updated_at = now()`)
  if (gone.length > 0)
    await tx.delete(manifestObjects).where(and(visibleTo(ctx, manifestObjects), isOneOf(manifestObjects.id, gone)))
}
