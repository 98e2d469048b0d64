import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, primaryKey, snakeCase, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { type BootArch, bootProfiles } from '../boot-profiles/tables.ts'
import { nodeGroups } from '../groups/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

const tenantId = () =>
  uuid()
    .notNull()
    .references(() => tenants.id)

const nodeId = () => uuid().references(() => computeNodes.id, { onDelete: 'cascade' })

export const UNKNOWN_MACHINE_STATES = ['NEW', 'ACCEPTED', 'REJECTED'] as const
export type UnknownMachineState = (typeof UNKNOWN_MACHINE_STATES)[number]

export type ReportedInterface = { name: string; mac: string }

/** Machines that asked for a boot script with a MAC that no node has. */
export const unknownMachines = snakeCase.table(
  'unknown_machines',
  {
    id: id(),
    tenantId: tenantId(),
    /** The MAC with which it asked, normalized. */
    mac: text().notNull(),
    // As the firmware reports them; anybody in the boot network can send other values.
    arch: text(),
    serial: text(),
    systemUuid: text(),
    interfaces: jsonb().$type<ReportedInterface[]>().notNull().default(sql`'[]'::jsonb`),
    /** Where the last request came from. A hint only: addresses can be forged. */
    seenFrom: text(),
    requests: integer().notNull().default(1),
    firstSeenAt: createdAt(),
    lastSeenAt: at().notNull().defaultNow(),
    acceptedAt: at(),
    acceptedById: userRef(),
    acceptedByName: text(),
    /** The node that it became. */
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    rejectedAt: at(),
    rejectedById: userRef(),
    rejectedByName: text(),
    rejectedReason: text(),
    state: text()
      .$type<UnknownMachineState>()
      .notNull()
      .generatedAlwaysAs(
        sql`case when rejected_at is not null then 'REJECTED' when accepted_at is not null then 'ACCEPTED' else 'NEW' end`,
      ),
  },
  (t) => [
    unique().on(t.tenantId, t.mac),
    index().on(t.tenantId, t.state, t.lastSeenAt),
    index().on(t.tenantId, t.id),
    index().on(t.nodeId),
  ],
)
export type UnknownMachine = typeof unknownMachines.$inferSelect

/** Conditions of a rule. Null: any. Machines can report false values. */
export type BootRuleMatch = {
  /** Prefixes of the boot MAC: whole bytes, normalized. */
  macPrefixes: string[] | null
  /** MAC prefixes that at least one interface must match. */
  interfaceMacPrefixes: string[] | null
  /** Patterns with `*`; case is ignored. */
  serials: string[] | null
  systemUuids: string[] | null
  arch: BootArch | null
}

/** Rules that accept unknown machines as new nodes. */
export const bootRules = snakeCase.table(
  'boot_rules',
  {
    id: id(),
    tenantId: tenantId(),
    name: text().notNull(),
    /** If several rules match, the lowest number decides, then the name. */
    priority: integer().notNull().default(100),
    isEnabled: boolean().notNull().default(true),
    match: jsonb().$type<BootRuleMatch>().notNull(),
    /** Hostlist of node names. A machine gets the first unused name. */
    names: text().notNull(),
    /** The nodes become members of it. */
    groupId: uuid().references(() => nodeGroups.id),
    /** Assigned to the nodes. */
    profileId: uuid().references(() => bootProfiles.id),
    maxAccepted: integer().notNull(),
    accepted: integer().notNull().default(0),
    lastAcceptedAt: at(),
    /** Why it could not accept the last machine that matched; null after it accepted one. */
    problem: text(),
    createdById: userRef(),
    createdByName: text().notNull(),
    updatedById: userRef(),
    updatedByName: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name), index().on(t.groupId), index().on(t.profileId)],
)
export type BootRule = typeof bootRules.$inferSelect

/** What began an attempt. CLOUD_INIT: a machine fetched cloud-init data, and no boot script was recorded before. */
export const BOOT_CAUSES = ['POWER_ON', 'BOOT_SCRIPT', 'CLOUD_INIT'] as const
export type BootCause = (typeof BOOT_CAUSES)[number]

export const BOOT_STATES = ['BOOTING', 'READY', 'ABANDONED'] as const
export type BootState = (typeof BOOT_STATES)[number]

/** Boots of nodes. A node has at most one that has not ended. */
export const bootAttempts = snakeCase.table(
  'boot_attempts',
  {
    id: id(),
    tenantId: tenantId(),
    nodeId: nodeId().notNull(),
    cause: text().$type<BootCause>().notNull(),
    /** With which the boot script was fetched; null: by name or NID, or not at all. */
    mac: text(),
    /** Name and version of the profile that the first boot script came from; both survive the profile. */
    profile: text(),
    profileVersion: integer(),
    startedAt: createdAt(),
    finishedAt: at(),
    /** It ended without READY: another boot began, or nothing happened for a day. */
    isAbandoned: boolean().notNull().default(false),
    state: text()
      .$type<BootState>()
      .notNull()
      .generatedAlwaysAs(sql`case when finished_at is null then 'BOOTING' when is_abandoned then 'ABANDONED' else 'READY' end`),
  },
  (t) => [
    uniqueIndex().on(t.nodeId).where(sql`finished_at is null`),
    index().on(t.nodeId, t.id),
    index().on(t.tenantId, t.id),
    index().on(t.tenantId, t.startedAt),
  ],
)
export type BootAttempt = typeof bootAttempts.$inferSelect

/** When an attempt reached a stage; see stages.ts. */
export const bootStageTimes = snakeCase.table(
  'boot_stage_times',
  {
    attemptId: uuid()
      .notNull()
      .references(() => bootAttempts.id, { onDelete: 'cascade' }),
    /** A BootStage. Text, because later releases add stages. */
    stage: text().notNull(),
    reachedAt: at().notNull(),
  },
  (t) => [primaryKey({ columns: [t.attemptId, t.stage] })],
)

export const BOOT_FETCH_KINDS = ['BOOT_SCRIPT', 'META_DATA', 'USER_DATA', 'VENDOR_DATA', 'NETWORK_CONFIG', 'PHONE_HOME'] as const
export type BootFetchKind = (typeof BOOT_FETCH_KINDS)[number]

/** What nodes fetched. Equal fetches of one attempt are one row with a count, so that a retry loop adds no rows. */
export const bootFetches = snakeCase.table(
  'boot_fetches',
  {
    id: id(),
    tenantId: tenantId(),
    nodeId: nodeId().notNull(),
    attemptId: uuid()
      .notNull()
      .references(() => bootAttempts.id, { onDelete: 'cascade' }),
    kind: text().$type<BootFetchKind>().notNull(),
    /** SHA-256 of the content without the token, in hexadecimal: equal to that of a preview. */
    hash: text().notNull(),
    /** Name of the profile, after the names and versions of those that are merged with it: `site v2 + compute`. */
    profile: text(),
    profileVersion: integer(),
    hasToken: boolean().notNull().default(false),
    /** Why it had no token, or why the token was refused. */
    refusal: text(),
    count: integer().notNull().default(1),
    firstAt: createdAt(),
    lastAt: at().notNull().defaultNow(),
    /** Of the last fetch. */
    address: text(),
  },
  (t) => [unique().on(t.attemptId, t.kind, t.hash, t.hasToken), index().on(t.nodeId, t.id), index().on(t.tenantId, t.id)],
)
export type BootFetch = typeof bootFetches.$inferSelect

/** One token per attempt: the node proves with it that it booted with our user-data. Only its SHA-256 is stored. */
export const bootTokens = snakeCase.table('boot_tokens', {
  attemptId: uuid()
    .primaryKey()
    .references(() => bootAttempts.id, { onDelete: 'cascade' }),
  tenantId: tenantId(),
  nodeId: nodeId().notNull(),
  /** The interface that fetched the boot script. */
  mac: text().notNull(),
  hash: text().notNull().unique(),
  createdAt: createdAt(),
  expiresAt: at().notNull(),
  usedAt: at(),
  usedFrom: text(),
})
