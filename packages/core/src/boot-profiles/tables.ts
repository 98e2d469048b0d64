import { sql } from 'drizzle-orm'
import { type AnyPgColumn, check, index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { nodeGroups } from '../groups/tables.ts'
import { createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

/** Machine architectures that boot over the network, as in `uname -m`. */
export const BOOT_ARCHES = ['x86_64', 'aarch64'] as const
export type BootArch = (typeof BOOT_ARCHES)[number]

/** A file that a node loads. The checksum is `sha256:` or `sha512:` and hexadecimal digits. */
export type BootImage = { url: string; checksum: string | null }

/** The fields of a profile that have versions. Null: inherited from the parent. Lists are added to those of the parent. */
export type BootProfileContent = {
  description: string
  arch: BootArch | null
  kernel: BootImage | null
  /** In the order in which they are loaded; replaces the list of the parent. */
  initrds: BootImage[] | null
  rootImage: BootImage | null
  kernelParams: string[]
  adminUser: string | null
  /** Public keys of the admin user. */
  sshKeys: string[]
  /** Parts of cloud-init. */
  userData: string | null
  vendorData: string | null
  networkConfig: string | null
}

/** What a node boots: files, kernel parameters and cloud-init. */
export const bootProfiles = snakeCase.table(
  'boot_profiles',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** Unique in the tenant; never changes. */
    name: text().notNull(),
    /** Number of the newest version; `boot_profile_versions` has all of them. */
    version: integer().notNull().default(1),
    parentId: uuid().references((): AnyPgColumn => bootProfiles.id),
    content: jsonb().$type<BootProfileContent>().notNull(),
    createdById: userRef(),
    createdByName: text().notNull(),
    updatedById: userRef(),
    updatedByName: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name), index().on(t.parentId)],
)
export type BootProfile = typeof bootProfiles.$inferSelect

/** All versions of the profiles, including the newest. A version never changes. */
export const bootProfileVersions = snakeCase.table(
  'boot_profile_versions',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    profileId: uuid()
      .notNull()
      .references(() => bootProfiles.id, { onDelete: 'cascade' }),
    /** From 1, per profile. */
    number: integer().notNull(),
    /** Name of the parent; it may have been deleted since. */
    parent: text(),
    content: jsonb().$type<BootProfileContent>().notNull(),
    /** Why it was changed, as the user wrote it. */
    comment: text(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.profileId, t.number)],
)
export type BootProfileVersion = typeof bootProfileVersions.$inferSelect

/** What a profile is assigned to, the nearest first. Unknown machines are those that no node has the MAC of. */
export const BOOT_TARGETS = ['NODE', 'GROUP', 'ALL_NODES', 'UNKNOWN_MACHINES'] as const
export type BootTarget = (typeof BOOT_TARGETS)[number]

/** Assignments of profiles. */
export const bootAssignments = snakeCase.table(
  'boot_assignments',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    profileId: uuid()
      .notNull()
      .references(() => bootProfiles.id),
    target: text().$type<BootTarget>().notNull(),
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'cascade' }),
    groupId: uuid().references(() => nodeGroups.id, { onDelete: 'cascade' }),
    /** Among assignments of the same target, the lower number wins. */
    priority: integer().notNull().default(100),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [
    unique('boot_assignments_once').on(t.profileId, t.target, t.nodeId, t.groupId).nullsNotDistinct(),
    index().on(t.tenantId, t.target),
    index().on(t.nodeId),
    index().on(t.groupId),
    check('boot_assignments_node', sql`(${t.target} = 'NODE') = (${t.nodeId} is not null)`),
    check('boot_assignments_group', sql`(${t.target} = 'GROUP') = (${t.groupId} is not null)`),
  ],
)
export type BootAssignment = typeof bootAssignments.$inferSelect
