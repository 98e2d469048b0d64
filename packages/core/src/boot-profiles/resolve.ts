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
/** A value of a parent that a child replaced. */
export type OverriddenValue = Sourced<unknown> & { field: keyof BootProfileContent }

/** A profile with what it inherits. Null: no profile of the chain sets the field. */
export type ResolvedBootProfile = ProfileRef & {
  /** The root first, the profile last. */
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

/** Resolves a profile. @param chain the profile and its parents, the root first */
export function resolveChain(chain: readonly Link[]): ResolvedBootProfile {
  const refs = chain.map(({ id, name, version }): ProfileRef => ({ id, name, version }))
  const overridden: OverriddenValue[] = []
  const scalar = <F extends (typeof SCALARS)[number]>(field: F) => {
    const set = chain.flatMap(({ content }, i) => {
      const value = content[field]
      return value === null ? [] : [{ value: value as NonNullable<typeof value>, profile: refs[i]! }]
    })
    for (const { value, profile } of set.slice(0, -1).reverse()) overridden.push({ field, value, profile })
    return set.at(-1) ?? null
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
    ...refs.at(-1)!,
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
    ...(kernel ? [] : ['No kernel URL is set. Set one in the profile or its parent.']),
    ...(length > MAX_COMMAND_LINE
      ? [`The kernel parameters have ${length} characters together; Linux truncates them after ${MAX_COMMAND_LINE}.`]
      : []),
    ...(sshKeys.length > 0 && !adminUser ? ['SSH keys are set, but no admin user to whom they belong.'] : []),
  ]
}

type Db = Tx | Ctx['db']

/** The profiles of the tenant without their content: what inherits from what, and the architecture, own or inherited. */
export type ProfileTree = Map<string, ProfileRef & { parentId: string | null; arch: BootArch | null }>

const ownArch = sql<BootArch | null>`${bootProfiles.content}->>'arch'`

export async function readProfileTree(db: Db, ctx: Pick<Ctx, 'tenantId'>): Promise<ProfileTree> {
  const { id, name, version, parentId } = bootProfiles
  const rows = await db
    .select({ id, name, version, parentId, arch: ownArch })
    .from(bootProfiles)
    .where(visibleTo(ctx, bootProfiles))
  const tree: ProfileTree = new Map(rows.map((row) => [row.id, row]))
  const inherited = (profileId: string): BootArch | null =>
    chainOf(tree, profileId)
      .map((each) => tree.get(each)!.arch)
      .findLast((arch) => arch !== null) ?? null
  return new Map(rows.map((row) => [row.id, { ...row, arch: inherited(row.id) }]))
}

/** The profile and its parents, the root first. Empty for an unknown one. */
export function chainOf(tree: ProfileTree, id: string): string[] {
  const chain: string[] = []
  for (let next = tree.get(id); next && !chain.includes(next.id); next = tree.get(next.parentId ?? '')) chain.unshift(next.id)
  return chain
}

/** Resolves these profiles with two statements, for any number of profiles. Those of other tenants are absent. */
export async function resolveBootProfiles(
  ctx: Pick<Ctx, 'db' | 'tenantId'>,
  ids: readonly string[],
  given?: ProfileTree,
): Promise<Map<string, ResolvedBootProfile>> {
  if (ids.length === 0) return new Map()
  const tree = given ?? (await readProfileTree(ctx.db, ctx))
  const chains = [...new Set(ids)].map((id) => chainOf(tree, id)).filter((chain) => chain.length > 0)
  const needed = [...new Set(chains.flat())]
  if (needed.length === 0) return new Map()
  const { id, name, version, content } = bootProfiles
  const rows = await ctx.db
    .select({ id, name, version, content })
    .from(bootProfiles)
    .where(and(visibleTo(ctx, bootProfiles), inArray(bootProfiles.id, needed)))
  const links = new Map(rows.map((row) => [row.id, row]))
  return new Map(
    chains.flatMap((chain) => {
      // A profile that was deleted since the first statement is absent.
      const found = chain.flatMap((each) => links.get(each) ?? [])
      return found.length === chain.length ? [[chain.at(-1)!, resolveChain(found)] as const] : []
    }),
  )
}
