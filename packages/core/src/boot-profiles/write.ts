import { and, eq, sql } from 'drizzle-orm'
import { actorColumns, type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, type InputIssue, InvalidInput, NotFound } from '../kernel/errors.ts'
import { bootProfileChanged } from './change-events.ts'
import { type BootProfile, type BootProfileContent, bootProfiles, bootProfileVersions } from './tables.ts'

/** Maximum length of a chain of parents, including the profile itself. */
const MAX_DEPTH = 8

type Place = Pick<BootProfile, 'id' | 'name' | 'parentId'>

/** Reads the tenant's profiles without their content, and locks them against changes until the transaction ends. */
export async function lockProfiles(tx: Tx, ctx: Ctx): Promise<Map<string, Place>> {
  const rows = await tx
    .select({ id: bootProfiles.id, name: bootProfiles.name, parentId: bootProfiles.parentId })
    .from(bootProfiles)
    .where(visibleTo(ctx, bootProfiles))
    .orderBy(bootProfiles.id)
    .for('no key update')
  return new Map(rows.map((row) => [row.id, row]))
}

/** @param id of the profile; null for a new one @throws InvalidInput at parentId */
export function assertParent(profiles: Map<string, Place>, id: string | null, parentId: string | null): void {
  if (parentId === null) return
  const reject = (message: string): never => {
    throw new InvalidInput([{ path: 'parentId', message } satisfies InputIssue])
  }
  const parent = profiles.get(parentId) ?? reject(`there is no boot profile ${parentId}`)
  const chain: Place[] = []
  for (let next: Place | undefined = parent; next; next = profiles.get(next.parentId ?? '')) {
    if (next.id === id)
      reject(
        next === parent
          ? `${parent.name} is the profile itself; this would create a cycle`
          : `${parent.name} inherits from ${next.name}; this would create a cycle`,
      )
    chain.push(next)
  }
  if (chain.length + heightOf(profiles, id) > MAX_DEPTH)
    reject(`profiles can inherit over at most ${MAX_DEPTH} levels; choose a parent above ${parent.name}`)
}

/** Number of levels of the profile and its descendants. */
function heightOf(profiles: Map<string, Place>, id: string | null): number {
  if (id === null) return 1
  const children = [...profiles.values()].filter(({ parentId }) => parentId === id)
  return 1 + Math.max(0, ...children.map((child) => heightOf(profiles, child.id)))
}

/** Stores a row of the history. */
export async function insertVersion(
  tx: Tx,
  ctx: Ctx,
  profile: BootProfile,
  parent: string | null,
  comment: string | null,
): Promise<void> {
  const { id: profileId, version: number, content } = profile
  await tx
    .insert(bootProfileVersions)
    .values({ tenantId: ctx.tenantId, profileId, number, parent, content, comment, ...createdBy(ctx) })
  ctx.notify(bootProfileChanged(profile))
}

/** @throws NotFound */
export async function findBootProfile(db: Tx | Ctx['db'], ctx: Ctx, id: string): Promise<BootProfile> {
  const [row] = await db
    .select()
    .from(bootProfiles)
    .where(and(visibleTo(ctx, bootProfiles), eq(bootProfiles.id, id)))
  if (!row) throw new NotFound(`There is no boot profile ${id}.`)
  return row
}

type Change = { content: BootProfileContent; parentId: string | null; comment: string | null; basedOn: number }

/**
 * Stores the next version of a profile, if the change is based on the newest one.
 * @throws Conflict naming who changed it; InvalidInput at parentId
 */
export async function saveVersion(
  tx: Tx,
  ctx: Ctx,
  profiles: Map<string, Place>,
  { id, name }: Pick<BootProfile, 'id' | 'name'>,
  { content, parentId, comment, basedOn }: Change,
): Promise<BootProfile> {
  assertParent(profiles, id, parentId)
  const [saved] = await tx
    .update(bootProfiles)
    .set({
      content,
      parentId,
      version: sql`${bootProfiles.version} + 1`,
      ...actorColumns(ctx, 'updated'),
      updatedAt: sql`now()`,
    })
    .where(and(visibleTo(ctx, bootProfiles), eq(bootProfiles.id, id), eq(bootProfiles.version, basedOn)))
    .returning()
  if (!saved) {
    const { version, updatedByName } = await findBootProfile(tx, ctx, id)
    throw new Conflict(
      `${updatedByName} changed the boot profile ${name} meanwhile: it has version ${version}, your change is based on ${basedOn}. Load it again and repeat your change.`,
    )
  }
  await insertVersion(tx, ctx, saved, profiles.get(parentId ?? '')?.name ?? null, comment)
  return saved
}
