import { createHash } from 'node:crypto'
import { and, inArray, sql } from 'drizzle-orm'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { MAX_COMMAND_LINE, remainingParams } from './kernel-params.ts'
import { sshKeyIdentity } from './ssh-keys.ts'
import { type BootArch, type BootImage, type BootProfileContent, bootProfiles } from './tables.ts'

/** One version of a profile. */
export type ProfileRef = { id: string; name: string; version: number }
/** A value and the profile that sets it. */
export type Sourced<T> = { value: T; profile: ProfileRef }
/** A value of a parent that a child replaced, or a value that an addition cannot set. */
export type OverriddenValue = Sourced<unknown> & { field: keyof BootProfileContent }

/** A profile with inherited values and additions. Null: no profile of the chain sets the field. */
export type ResolvedBootProfile = ProfileRef & {
  /** The profile, its parents and additions, in merge order. */
  chain: ProfileRef[]
  arch: Sourced<BootArch> | null
  kernel: Sourced<BootImage> | null
  initrds: Sourced<BootImage[]> | null
  rootImage: Sourced<BootImage> | null
  adminUser: Sourced<string> | null
  networkConfig: Sourced<string> | null
  /** Those of the parents first. A parameter replaces all parameters of its parents with the same name. */
  kernelParams: Sourced<string>[]
  /** Those of all profiles of the chain. */
  sshKeys: Sourced<string>[]
  /** Parts for cloud-init, which merges them in this order: the root first. */
  userData: Sourced<string>[]
  vendorData: Sourced<string>[]
  /** Nearest first. */
  overridden: OverriddenValue[]
  /** Hash of all values; equal values have equal revisions, whatever profiles they come from. */
  revision: string
  /** Why a node cannot boot it. */
  problems: string[]
}

type Link = ProfileRef & { content: BootProfileContent }
const SCALARS = ['arch', 'kernel', 'initrds', 'rootImage', 'adminUser', 'networkConfig'] as const
/** Fields that an addition cannot set: a kernel needs its own initrds and root image. */
const OWN_SCALARS: readonly string[] = ['arch', 'kernel', 'initrds', 'rootImage'] satisfies (typeof SCALARS)[number][]
const refOf = ({ id, name, version }: ProfileRef): ProfileRef => ({ id, name, version })

/**
 * Resolves a profile with its parents, and with the profiles that are added to it.
 * @param chain all of them in the order in which they are merged, the lowest precedence first
 * @param own the profile and its parents, the root first: only their files and architecture count
 */
export function resolveChain(chain: readonly Link[], own: readonly Link[] = chain): ResolvedBootProfile {
  const refs = chain.map(refOf)
  const overridden: OverriddenValue[] = []
  const scalar = <F extends (typeof SCALARS)[number]>(field: F) => {
    const set = chain.flatMap((link, i) => {
      const value = link.content[field]
      return value === null ? [] : [{ value: value as NonNullable<typeof value>, profile: refs[i]!, link }]
    })
    // In the order of the profile itself: a parent that an addition shares can come after it in the chain.
    const nearest = OWN_SCALARS.includes(field) ? own : chain
    const used = nearest.flatMap((each) => set.filter(({ link }) => link === each)).at(-1)
    for (const { value, profile } of set.filter((each) => each !== used).reverse()) overridden.push({ field, value, profile })
    return used ? { value: used.value, profile: used.profile } : null
  }
  const all = (field: 'userData' | 'vendorData') =>
    chain.flatMap(({ content }, i) => (content[field] === null ? [] : [{ value: content[field], profile: refs[i]! }]))
  let kernelParams: Sourced<string>[] = []
  const sshKeys = new Map<string, Sourced<string>>()
  for (const [i, { content }] of chain.entries()) {
    const profile = refs[i]!
    const left = remainingParams(kernelParams, content.kernelParams, (param) => param.value)
    const replaced = kernelParams.filter((param) => !left.includes(param))
    overridden.push(...replaced.map((param) => ({ field: 'kernelParams' as const, ...param })))
    kernelParams = [...left, ...content.kernelParams.map((value) => ({ value, profile }))]
    for (const key of content.sshKeys) {
      const identity = sshKeyIdentity(key)
      if (!sshKeys.has(identity)) sshKeys.set(identity, { value: key, profile })
    }
  }
  const resolved = {
    arch: scalar('arch') as Sourced<BootArch> | null,
    kernel: scalar('kernel') as Sourced<BootImage> | null,
    initrds: scalar('initrds') as Sourced<BootImage[]> | null,
    rootImage: scalar('rootImage') as Sourced<BootImage> | null,
    adminUser: scalar('adminUser') as Sourced<string> | null,
    networkConfig: scalar('networkConfig') as Sourced<string> | null,
    kernelParams,
    sshKeys: [...sshKeys.values()],
    userData: all('userData'),
    vendorData: all('vendorData'),
  }
  const values = Object.entries(resolved).map(([field, value]) => [
    field,
    Array.isArray(value) ? value.map((each) => each.value) : (value?.value ?? null),
  ])
  return {
    ...refOf(own.at(-1)!),
    chain: refs,
    ...resolved,
    overridden,
    revision: createHash('sha256')
      .update(canonicalJson(Object.fromEntries(values)))
      .digest('hex'),
    problems: problemsOf(resolved),
  }
}

type Values = Pick<ResolvedBootProfile, 'kernel' | 'kernelParams' | 'sshKeys' | 'adminUser'>

function problemsOf({ kernel, kernelParams, sshKeys, adminUser }: Values): string[] {
  const { length } = kernelParams.map(({ value }) => value).join(' ')
  return [
    ...(kernel ? [] : ['No kernel URL is set in the profile or its parents: it only adds to the profile that a node boots.']),
    ...(length > MAX_COMMAND_LINE
      ? [`The kernel parameters have ${length} characters together; Linux truncates them after ${MAX_COMMAND_LINE}.`]
      : []),
    ...(sshKeys.length > 0 && !adminUser ? ['SSH keys are set, but no admin user to whom they belong.'] : []),
  ]
}

type Db = Tx | Ctx['db']

/** The profiles of the tenant without their content, by ID. `arch` and `hasKernel` include inherited values. */
export type ProfileTree = Map<string, ProfileRef & { parentId: string | null; arch: BootArch | null; hasKernel: boolean }>

const ownArch = sql<BootArch | null>`${bootProfiles.content}->>'arch'`
const hasOwnKernel = sql<boolean>`${bootProfiles.content}->>'kernel' is not null`

export async function readProfileTree(db: Db, ctx: Pick<Ctx, 'tenantId'>): Promise<ProfileTree> {
  const { id, name, version, parentId } = bootProfiles
  const rows = await db
    .select({ id, name, version, parentId, arch: ownArch, hasKernel: hasOwnKernel })
    .from(bootProfiles)
    .where(visibleTo(ctx, bootProfiles))
  const tree: ProfileTree = new Map(rows.map((row) => [row.id, row]))
  return new Map(
    rows.map((row) => {
      const chain = chainOf(tree, row.id).map((id) => tree.get(id)!)
      const arch = chain.findLast((each) => each.arch !== null)?.arch ?? null
      return [row.id, { ...row, arch, hasKernel: chain.some((each) => each.hasKernel) }]
    }),
  )
}

/** The profile and its parents, the root first. Empty for an unknown one. */
export function chainOf(tree: ProfileTree, id: string): string[] {
  const chain: string[] = []
  for (let next = tree.get(id); next && !chain.includes(next.id); next = tree.get(next.parentId ?? '')) chain.unshift(next.id)
  return chain
}

type Reader = Pick<Ctx, 'db' | 'tenantId'>

/** Resolves these profiles with two statements, for any number of profiles. Those of other tenants are absent. */
export async function resolveBootProfiles(ctx: Reader, ids: readonly string[]): Promise<Map<string, ResolvedBootProfile>> {
  if (ids.length === 0) return new Map()
  const merges = [...new Set(ids)].map((id) => ({ profileId: id, layers: [id] }))
  const resolved = await resolveMerges(ctx, merges, await readProfileTree(ctx.db, ctx))
  return new Map([...resolved].map(([{ profileId }, profile]) => [profileId, profile]))
}

/** A profile that boots, and the profiles that are merged: those that are added and itself, the lowest precedence first. */
export type Merge = { profileId: string; layers: string[] }

/**
 * Resolved profiles by the versions of which they consist, so that the same versions give the same object. Only for reads outside of
 * transactions: one that is rolled back would leave a version with other content.
 */
export type ResolvedProfileCache = Map<string, ResolvedBootProfile>
const MAX_CACHED = 200
const cacheKey = (chain: readonly ProfileRef[], own: readonly ProfileRef[]) =>
  JSON.stringify([chain, own].map((links) => links.map(({ id, version, name }) => [id, version, name])))

/** Resolves merges with at most one statement. Absent: its profile is of another tenant, or was deleted meanwhile. */
export async function resolveMerges(
  ctx: Reader,
  merges: readonly Merge[],
  tree: ProfileTree,
  cache: ResolvedProfileCache = new Map(),
): Promise<Map<Merge, ResolvedBootProfile>> {
  const resolved = new Map<Merge, ResolvedBootProfile>()
  const refsOf = (ids: string[]) => ids.flatMap((each) => tree.get(each) ?? [])
  // A profile that is inherited twice counts where it comes last, so that a farther profile never replaces values of a nearer one.
  const chains = merges.map((merge) => ({
    merge,
    ids: [...new Set(merge.layers.flatMap((layer) => chainOf(tree, layer)).reverse())].reverse(),
    ownIds: chainOf(tree, merge.profileId),
  }))
  for (const { merge, ids, ownIds } of chains) {
    const cached = cache.get(cacheKey(refsOf(ids), refsOf(ownIds)))
    if (cached) resolved.set(merge, cached)
  }
  const missing = chains.filter(({ merge }) => !resolved.has(merge))
  const needed = [...new Set(missing.flatMap(({ ids }) => ids))]
  if (needed.length === 0) return resolved
  const { id, name, version, content } = bootProfiles
  const rows = await ctx.db
    .select({ id, name, version, content })
    .from(bootProfiles)
    .where(and(visibleTo(ctx, bootProfiles), inArray(bootProfiles.id, needed)))
  const links = new Map(rows.map((row) => [row.id, row]))
  const linksOf = (ids: string[]) => ids.flatMap((each) => links.get(each) ?? [])
  for (const { merge, ids, ownIds } of missing) {
    const [found, own] = [linksOf(ids), linksOf(ownIds)]
    if (own.length === 0 || own.length !== ownIds.length) continue
    const profile = resolveChain(found, own)
    resolved.set(merge, profile)
    if (cache.size >= MAX_CACHED) cache.clear()
    cache.set(cacheKey(found, own), profile)
  }
  return resolved
}
