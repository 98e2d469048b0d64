import { and, eq, sql } from 'drizzle-orm'
import {
  type BootProfile,
  bootAssignments,
  bootProfiles,
  deleteBootProfile,
  resolveBootProfiles,
  unassignBootProfile,
} from '../../boot-profiles/index.ts'
import { bootRules } from '../../boot-service/tables.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { Conflict } from '../../kernel/errors.ts'
import { isStored } from './format.ts'
import { isAt, nearPlaces, type Place } from './places.ts'

export type Stored = { place: Place; profile: BootProfile }

/** One change of boot parameters at a time in a tenant, so that a place never gets two profiles. */
export const lockBootParameters = (tx: Tx, { tenantId }: Ctx) =>
  tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`boot parameters ${tenantId}`}, 0))`)

/**
 * The profiles that store the boot parameters of places.
 * @throws Conflict a place has another profile with a kernel, which is not replaced: it can have parents, a history and other readers
 */
export async function findStored(tx: Tx, ctx: Ctx, places: Place[]): Promise<Stored[]> {
  const { profileId, target, nodeId, groupId } = bootAssignments
  const assignments = await tx
    .select({ profileId, target, nodeId, groupId })
    .from(bootAssignments)
    .where(and(visibleTo(ctx, bootAssignments), nearPlaces(places)))
  const keyOf = (each: { target: string; nodeId: string | null; groupId: string | null }) =>
    `${each.target} ${each.nodeId ?? each.groupId}`
  const byPlace = Map.groupBy(assignments, keyOf)
  const found = places.flatMap((place) => (byPlace.get(keyOf(place)) ?? []).map((assignment) => ({ place, assignment })))
  const ids = [...new Set(found.map(({ assignment }) => assignment.profileId))]
  const rows = await tx
    .select()
    .from(bootProfiles)
    .where(and(visibleTo(ctx, bootProfiles), isOneOf(bootProfiles.id, ids)))
  const profiles = new Map(rows.map((row) => [row.id, row]))
  const resolved = await resolveBootProfiles(ctx, ids)
  return found.flatMap(({ place, assignment }): Stored[] => {
    const [profile, values] = [profiles.get(assignment.profileId)!, resolved.get(assignment.profileId)!]
    const hasKernel = values.kernel !== null
    if (!isAt(place, assignment, { arch: values.arch?.value ?? null, hasKernel })) return []
    if (isStored(profile)) return [{ place, profile }]
    // Another profile without a kernel is added to the one that is set here.
    if (!hasKernel) return []
    throw new Conflict(
      `The boot profile ${profile.name} is assigned to ${place.host}. Boot parameters replace only what was set with boot parameters: change the profile, or unassign it first.`,
    )
  })
}

/** Fields of places for the verbs that assign and unassign. */
export const targetsOf = (places: Place[]) => ({
  nodeIds: places.flatMap(({ nodeId }) => nodeId ?? []),
  groupIds: places.flatMap(({ groupId }) => groupId ?? []),
  allNodes: places.some(({ target }) => target === 'ALL_NODES'),
  unknownMachines: places.some(({ target }) => target === 'UNKNOWN_MACHINES'),
})

/** Unassigns profiles from places, and deletes profiles that are no longer used. */
export async function release(tx: Tx, ctx: Ctx, stored: Stored[]): Promise<void> {
  for (const [id, of] of Map.groupBy(stored, ({ profile }) => profile.id)) {
    await unassignBootProfile(ctx, { profileId: id, ...targetsOf(of.map(({ place }) => place)) })
    const isUsed =
      (await tx.$count(bootAssignments, eq(bootAssignments.profileId, id))) > 0 ||
      (await tx.$count(bootProfiles, and(visibleTo(ctx, bootProfiles), eq(bootProfiles.parentId, id)))) > 0 ||
      (await tx.$count(bootRules, and(visibleTo(ctx, bootRules), eq(bootRules.profileId, id)))) > 0
    if (!isUsed) await deleteBootProfile(ctx, { id })
  }
}
