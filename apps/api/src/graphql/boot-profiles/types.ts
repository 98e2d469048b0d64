import {
  assignBootProfileBlockedReason,
  assignedTargets,
  type BOOT_ARCHES,
  type BOOT_TARGETS,
  type BootCandidate,
  type BootImage,
  type BootProfileContent as Content,
  type ContentChange,
  contentChanges,
  deleteBootProfileBlockedReason,
  type EffectiveBootProfile,
  effectiveBootProfiles,
  type ProfileRef,
  type ResolvedBootProfile,
  resolveBootProfiles,
  writeBootProfileBlockedReason,
} from '@muster/core/boot-profiles'
import { isOneOf, visibleTo } from '@muster/core/db'
import { NotFound } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { and, inArray } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { actorField } from '../access/people.ts'
import { NodeGroup } from '../groups/types.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { same } from '../shared/enum-values.ts'
import { loader } from '../shared/loaders.ts'

const { bootProfileVersions } = schema
const MAX_CANDIDATES = 500

export const BootArch = builder.enumType('BootArch', {
  description: 'Machine architecture, as in `uname -m`.',
  values: same({
    x86_64: '64-bit x86; `amd64` in Debian.',
    aarch64: '64-bit ARM; `arm64` in Debian and iPXE.',
  } satisfies Record<(typeof BOOT_ARCHES)[number], string>),
})

const BootTarget = builder.enumType('BootTarget', {
  description: 'What a boot profile is assigned to, the one with the highest precedence first.',
  values: same({
    NODE: 'A node.',
    GROUP: 'The nodes of a group and its child groups.',
    ALL_NODES: 'All nodes of the tenant: the default.',
    UNKNOWN_MACHINES: 'Machines with a MAC that no node has.',
  } satisfies Record<(typeof BOOT_TARGETS)[number], string>),
})

const BootImageType = builder.objectRef<BootImage>('BootImage').implement({
  description: 'A file that a machine loads.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'URL: http, https, tftp or nfs.' }),
    checksum: t.exposeString('checksum', {
      nullable: true,
      description: '`sha256:` or `sha512:` and hexadecimal digits; null when none is set.',
    }),
  }),
})

const PARAMS = 'Kernel parameters in order; at most'
const BootProfileContent = builder.objectRef<Content>('BootProfileContent').implement({
  description: 'The fields of a boot profile that have versions. Null: inherited from the parent.',
  fields: (t) => ({
    description: t.exposeString('description', { description: 'Free text; can be empty. Not inherited.' }),
    arch: t.expose('arch', { type: BootArch, nullable: true, description: 'Architecture of the machines.' }),
    kernel: t.expose('kernel', { type: BootImageType, nullable: true, description: 'The kernel.' }),
    initrds: t.expose('initrds', {
      type: [BootImageType],
      nullable: true,
      description: 'Initial RAM disks, in the order in which they are loaded; at most 16.',
    }),
    rootImage: t.expose('rootImage', { type: BootImageType, nullable: true, description: 'Image of the root file system.' }),
    kernelParams: t.exposeStringList('kernelParams', {
      description: `${PARAMS} 200. Those of the parent come first; a parameter replaces all of the parent with the same name.`,
    }),
    adminUser: t.exposeString('adminUser', { nullable: true, description: 'Name of the user who gets the SSH keys and sudo.' }),
    sshKeys: t.exposeStringList('sshKeys', {
      description: 'Public keys of the admin user, added to those of the parent; at most 100.',
    }),
    userData: t.exposeString('userData', {
      nullable: true,
      description: 'user-data of cloud-init; merged with that of the parent, which comes first. Null: none of its own.',
    }),
    vendorData: t.exposeString('vendorData', {
      nullable: true,
      description: 'vendor-data of cloud-init; merged like `userData`. Null: none of its own.',
    }),
    networkConfig: t.exposeString('networkConfig', {
      nullable: true,
      description: 'network-config of cloud-init, version 1 or 2; replaces that of the parent.',
    }),
  }),
})

const BootProfileChange = builder.objectRef<ContentChange>('BootProfileChange').implement({
  description: 'A field that differs between two versions of a boot profile.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Name of the field in `BootProfileContent`, or `parent`.' }),
    before: t.expose('before', { type: 'JSON', nullable: true, description: 'Value in the earlier version; null: inherited.' }),
    after: t.expose('after', { type: 'JSON', nullable: true, description: 'Value in the later version; null: inherited.' }),
  }),
})

type Version = typeof bootProfileVersions.$inferSelect
/** Versions by `profile number`. */
const versions = loader<Version>(async ({ ctx }, keys) => {
  const wanted = keys.map((key) => key.split(' ') as [string, string])
  const { profileId, number } = bootProfileVersions
  const rows = await ctx.db
    .select()
    .from(bootProfileVersions)
    .where(
      and(
        visibleTo(ctx, bootProfileVersions),
        isOneOf(
          profileId,
          wanted.map(([id]) => id),
        ),
        inArray(
          number,
          wanted.map((key) => Number(key[1])),
        ),
      ),
    )
  return new Map(rows.map((row) => [`${row.profileId} ${row.number}`, row]))
})

async function versionOf(context: ApiContext, { id, name }: { id: string; name: string }, number: number): Promise<Version> {
  const found = number > 0 && number < 2 ** 31 ? await versions(context, `${id} ${number}`) : undefined
  if (!found) throw new NotFound(`The boot profile ${name} has no version ${number}.`)
  return found
}

const BootProfileVersion = builder.drizzleNode('bootProfileVersions', {
  name: 'BootProfileVersion',
  description: 'A version of a boot profile. It never changes.',
  select: { columns: { id: true } },
  id: { column: (version) => version.id, description: 'ID of the version.' },
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'Version number, from 1.' }),
    parentName: t.exposeString('parent', {
      nullable: true,
      description: 'Name of the parent, which may not exist any more; null without one.',
    }),
    content: t.expose('content', { type: BootProfileContent, description: 'The fields.' }),
    comment: t.exposeString('comment', { nullable: true, description: 'Why it was changed; null when no comment was given.' }),
    changes: t.field({
      type: [BootProfileChange],
      description: 'Changes since the previous version. At most one per field.',
      select: { columns: { profileId: true, number: true, parent: true, content: true } },
      resolve: async (after, _args, context) =>
        contentChanges((await versions(context, `${after.profileId} ${after.number - 1}`)) ?? null, after),
    }),
    createdBy: t.field(actorField('created', 'Actor that saved it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was saved.' }),
  }),
})
const versionConnection = connectionTypes(BootProfileVersion, 'BootProfileVersion', 'versions')

export const BootProfileSource = builder.objectRef<ProfileRef>('BootProfileSource').implement({
  description: 'A version of a boot profile that values come from.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the profile.' }),
    version: t.exposeInt('version', { description: 'Version number.' }),
  }),
})

type Origin = { field: string; value: unknown; profile: ProfileRef; isOverridden: boolean }
const BootValueOrigin = builder.objectRef<Origin>('BootValueOrigin').implement({
  description: 'Where a value of a resolved boot profile comes from.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Name of the field.' }),
    value: t.expose('value', { type: 'JSON', nullable: true, description: 'The value; one element of a list of added values.' }),
    source: t.field({ type: BootProfileSource, description: 'The profile that sets it.', resolve: ({ profile }) => profile }),
    isOverridden: t.exposeBoolean('isOverridden', {
      description: 'Whether another profile replaces it, or an addition cannot set it.',
    }),
  }),
})

const ORIGIN_FIELDS = [
  ...(['arch', 'kernel', 'initrds', 'rootImage', 'kernelParams', 'adminUser', 'sshKeys'] as const),
  ...(['userData', 'vendorData', 'networkConfig'] as const),
]
const originsOf = (resolved: ResolvedBootProfile): Origin[] =>
  ORIGIN_FIELDS.flatMap((field) => [
    ...[resolved[field] ?? []].flat().map((each) => ({ field, ...each, isOverridden: false })),
    ...resolved.overridden.filter((each) => each.field === field).map((each) => ({ ...each, isOverridden: true })),
  ])

const ResolvedBootProfileType = builder.objectRef<ResolvedBootProfile>('ResolvedBootProfile').implement({
  description:
    'A boot profile with inherited values and, for a node, with its additions. Null: no profile of the chain sets the field.',
  fields: (t) => ({
    source: t.field({ type: BootProfileSource, description: 'The profile and its version.', resolve: (profile) => profile }),
    chain: t.expose('chain', {
      type: [BootProfileSource],
      description: 'The profile, its parents and additions, in merge order; at most 168.',
    }),
    arch: t.field({
      type: BootArch,
      nullable: true,
      description: 'Architecture of the machines; null: any.',
      resolve: ({ arch }) => arch?.value ?? null,
    }),
    kernel: t.field({
      type: BootImageType,
      nullable: true,
      description: 'The kernel.',
      resolve: ({ kernel }) => kernel?.value ?? null,
    }),
    initrds: t.field({
      type: [BootImageType],
      description: 'Initial RAM disks in order; at most 16.',
      resolve: ({ initrds }) => initrds?.value ?? [],
    }),
    rootImage: t.field({
      type: BootImageType,
      nullable: true,
      description: 'Image of the root file system.',
      resolve: ({ rootImage }) => rootImage?.value ?? null,
    }),
    kernelParams: t.stringList({
      description: `${PARAMS} 33,600.`,
      resolve: ({ kernelParams }) => kernelParams.map(({ value }) => value),
    }),
    adminUser: t.string({
      nullable: true,
      description: 'Name of the user who gets the SSH keys and sudo.',
      resolve: ({ adminUser }) => adminUser?.value ?? null,
    }),
    sshKeys: t.stringList({
      description: 'Public keys of the admin user; at most 16,800.',
      resolve: ({ sshKeys }) => sshKeys.map(({ value }) => value),
    }),
    userData: t.stringList({
      description: 'Parts of the user-data, which cloud-init merges in this order; at most 168.',
      resolve: ({ userData }) => userData.map(({ value }) => value),
    }),
    vendorData: t.stringList({
      description: 'Parts of the vendor-data, which cloud-init merges in this order; at most 168.',
      resolve: ({ vendorData }) => vendorData.map(({ value }) => value),
    }),
    networkConfig: t.string({
      nullable: true,
      description: 'network-config of cloud-init.',
      resolve: ({ networkConfig }) => networkConfig?.value ?? null,
    }),
    origins: t.field({
      type: [BootValueOrigin],
      description: 'Where each value comes from, and the values that it replaces; at most 60,000.',
      resolve: originsOf,
    }),
    revision: t.exposeString('revision', {
      description: 'Hash of all values: equal for equal values, whatever profiles they come from.',
    }),
    problems: t.exposeStringList('problems', { description: 'Why a machine cannot boot it, in sentences; at most 10.' }),
  }),
})

const BootAssignment = builder.drizzleNode('bootAssignments', {
  name: 'BootAssignment',
  description: 'An assignment of a boot profile.',
  select: { columns: { id: true } },
  id: { column: (assignment) => assignment.id, description: 'ID of the assignment.' },
  fields: (t) => ({
    profile: t.relation('profile', { description: 'The profile.' }),
    target: t.expose('target', { type: BootTarget, description: 'What it is assigned to.' }),
    node: t.relation('node', { nullable: true, description: 'The node; null for other targets.' }),
    group: t.relation('group', { nullable: true, description: 'The group; null for other targets.' }),
    priority: t.exposeInt('priority', { description: 'Among assignments with the same kind of target, the lower number wins.' }),
    createdBy: t.field(actorField('created', 'Actor that assigned it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was assigned.' }),
  }),
})
const assignmentConnection = connectionTypes(BootAssignment, 'BootAssignment', 'boot assignments')

const resolvedOf = loader<ResolvedBootProfile>(({ ctx }, ids) => resolveBootProfiles(ctx, ids))
const targetsOf = loader<string[]>(({ ctx }, ids) => assignedTargets(ctx.db, ctx, [...ids]))

export const BootProfile = builder.drizzleNode('bootProfiles', {
  name: 'BootProfile',
  description: 'What nodes boot over the network: kernel, initial RAM disks, kernel parameters and cloud-init data.',
  select: { columns: { id: true } },
  id: { column: (profile) => profile.id, description: 'ID of the boot profile.' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant. It never changes.' }),
    version: t.exposeInt('version', { description: 'Number of the newest version. Pass it to change the profile.' }),
    content: t.expose('content', { type: BootProfileContent, description: 'The fields of the newest version.' }),
    parent: t.relation('parent', { nullable: true, description: 'Profile that it inherits from; null without one.' }),
    resolved: t.field({
      type: ResolvedBootProfileType,
      description: 'The profile with what it inherits.',
      complexity: 20,
      select: { columns: { id: true } },
      resolve: async ({ id }, _args, context) => (await resolvedOf(context, id))!,
    }),
    versions: t.relatedConnection(
      'versions',
      { description: 'Versions, newest first.', query: { orderBy: { number: 'desc' } }, totalCount: true, ...PAGED },
      ...versionConnection,
    ),
    diff: t.field({
      type: [BootProfileChange],
      description: 'Fields that differ between two versions. At most one per field.',
      args: {
        from: t.arg.int({ required: true, description: 'Number of the earlier version.' }),
        to: t.arg.int({ description: 'Number of the later version. Default: the newest.' }),
      },
      select: { columns: { id: true, name: true, version: true } },
      resolve: async (profile, { from, to }, context) => {
        const [before, after] = await Promise.all([
          versionOf(context, profile, from),
          versionOf(context, profile, to ?? profile.version),
        ])
        return contentChanges(before, after)
      },
    }),
    assignments: t.relatedConnection(
      'assignments',
      { description: 'What it is assigned to, in order of creation.', totalCount: true, ...PAGED },
      ...assignmentConnection,
    ),
    createdBy: t.field(actorField('created', 'Actor that created it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedBy: t.field(actorField('updated', 'Actor that changed it last.')),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change it; null when allowed.',
      resolve: (_profile, _args, { ctx }) => writeBootProfileBlockedReason(ctx.actor),
    }),
    assignBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot assign it to any node; null when allowed.',
      resolve: (_profile, _args, { ctx }) => assignBootProfileBlockedReason(ctx.actor),
    }),
    deleteBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot delete it; null when allowed.',
      select: { columns: { id: true, name: true }, with: { children: { columns: { name: true }, orderBy: { name: 'asc' } } } },
      resolve: async (profile, _args, context) =>
        deleteBootProfileBlockedReason(
          context.ctx.actor,
          profile,
          profile.children.map(({ name }) => name),
          (await targetsOf(context, profile.id)) ?? [],
        ),
    }),
  }),
})
export const profileConnection = connectionTypes(BootProfile, 'BootProfile', 'boot profiles')

builder.objectField(BootProfileSource, 'profile', (t) =>
  t.field({
    type: BootProfile,
    description: 'The profile.',
    resolve: ({ id }) => ({ id }) as typeof BootProfile.$inferType,
  }),
)

builder.drizzleObjectFields(BootProfile, (t) => ({
  children: t.relatedConnection(
    'children',
    {
      description: 'Profiles that inherit from it, sorted by name.',
      totalCount: true,
      query: { orderBy: { name: 'asc' } },
      ...PAGED,
    },
    ...profileConnection,
  ),
}))

const BootCandidateType = builder.objectRef<BootCandidate>('BootCandidate').implement({
  description: 'An assignment that applies to a machine.',
  fields: (t) => ({
    source: t.field({ type: BootProfileSource, description: 'The profile.', resolve: ({ profile }) => profile }),
    target: t.expose('target', { type: BootTarget, description: 'What the profile is assigned to.' }),
    groupName: t.string({
      nullable: true,
      description: 'Name of the group; null for other targets.',
      resolve: ({ group }) => group?.name ?? null,
    }),
    priority: t.exposeInt('priority', { description: 'Among assignments with the same kind of target, the lower number wins.' }),
    isAddition: t.exposeBoolean('isAddition', {
      description: 'Whether the profile has no kernel and is merged with the one that the machine boots.',
    }),
    lostReason: t.exposeString('lostReason', {
      nullable: true,
      description: 'Why the profile is not used; null for the winner and for additions.',
    }),
  }),
})

export const EffectiveBootProfileType = builder.objectRef<EffectiveBootProfile>('EffectiveBootProfile').implement({
  description: 'What a machine boots, and why.',
  fields: (t) => ({
    resolved: t.expose('profile', {
      type: ResolvedBootProfileType,
      nullable: true,
      description: 'The profile; null when none applies.',
    }),
    candidates: t.field({
      type: [BootCandidateType],
      description: `Assignments that apply: the winner, then additions, the nearest first, then those that lost; at most ${MAX_CANDIDATES}.`,
      resolve: ({ candidates }) => candidates.slice(0, MAX_CANDIDATES),
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why no profile applies; null when one does.' }),
  }),
})

const effective = loader<EffectiveBootProfile>(({ ctx }, ids) => effectiveBootProfiles(ctx, [...ids]))

builder.drizzleObjectField(ComputeNode, 'effectiveBootProfile', (t) =>
  t.field({
    type: EffectiveBootProfileType,
    description:
      'What the node boots. An assignment to the node wins over those to its groups, those over the one to all nodes; then the lower priority number wins, then the name. Profiles without a kernel are merged in the same order of precedence.',
    complexity: 20,
    select: { columns: { id: true } },
    resolve: async ({ id }, _args, context) => (await effective(context, id))!,
  }),
)

builder.drizzleObjectField(NodeGroup, 'bootAssignments', (t) =>
  t.relatedConnection(
    'bootAssignments',
    { description: 'Boot profiles that are assigned to the group, in order of creation.', totalCount: true, ...PAGED },
    ...assignmentConnection,
  ),
)
