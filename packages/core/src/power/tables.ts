import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, snakeCase, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { credentials } from '../credentials/tables.ts'
import { at, createdAt, id } from '../kernel/db/columns.ts'
import { type BmcProtocol, computeNodes, nodeBmcs } from '../nodes/tables.ts'

/** UNKNOWN: the BMC was never read, or did not answer. It is never taken for OFF. */
export const POWER_STATES = ['ON', 'OFF', 'POWERING_ON', 'POWERING_OFF', 'UNKNOWN'] as const
export type PowerState = (typeof POWER_STATES)[number]

/** What a BMC reports about its machine. Null: it does not report it. */
export type BmcInventory = {
  manufacturer: string | null
  model: string | null
  serial: string | null
  uuid: string | null
  biosVersion: string | null
  bmcModel: string | null
  bmcFirmware: string | null
  cpuModel: string | null
  cpuCount: number | null
  memoryBytes: number | null
  /** Lower case with colons. */
  macs: string[]
  /** Systems of the BMC. */
  systemPaths: string[]
}
export type BmcSensor = { name: string; kind: string; value: number | null; unit: string; health: string | null }
export type BmcEvent = { id: string; at: string | null; severity: string | null; message: string }

/** What was last read from the BMC of a node. */
export const bmcReadings = snakeCase.table(
  'bmc_readings',
  {
    bmcId: uuid()
      .primaryKey()
      .references(() => nodeBmcs.id, { onDelete: 'cascade' }),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** The last state that the BMC reported, and when. */
    reportedState: text().$type<PowerState>(),
    readAt: at(),
    /** Why the last reading failed, and when; null after one that succeeded. */
    error: text(),
    failedAt: at(),
    /** SHA-256 of the certificate that was rejected at the last reading, which a person can approve. */
    offeredFingerprint: text(),
    inventory: jsonb().$type<BmcInventory>(),
    sensors: jsonb().$type<BmcSensor[]>(),
    /** Newest first. */
    events: jsonb().$type<BmcEvent[]>(),
    /** When inventory, sensors and events were read. */
    detailsReadAt: at(),
    /** When a person requested a reading of everything that has not ended. */
    requestedAt: at(),
    /** When a reading of the power state was last scheduled. */
    scheduledAt: at(),
    powerState: text()
      .$type<PowerState>()
      .notNull()
      .generatedAlwaysAs(sql`case when error is not null then 'UNKNOWN' else coalesce(reported_state, 'UNKNOWN') end`),
  },
  (t) => [index().on(t.tenantId), index().on(t.readAt)],
)
export type BmcReading = typeof bmcReadings.$inferSelect

export const POWER_ACTIONS = ['ON', 'OFF', 'FORCE_OFF', 'RESTART', 'CYCLE', 'NMI', 'BOOT_ONCE'] as const
export type PowerAction = (typeof POWER_ACTIONS)[number]
/** Device of the next boot. NONE removes a choice that was not used. */
export const BOOT_DEVICES = ['PXE', 'HTTP', 'DISK', 'BIOS_SETUP', 'NONE'] as const
export type BootDevice = (typeof BOOT_DEVICES)[number]

export const POWER_RUN_STATUSES = ['PENDING', 'RUNNING', 'CANCELING', 'SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELED'] as const
export type PowerRunStatus = (typeof POWER_RUN_STATUSES)[number]
/**
 * UNCHANGED: it was so already. ACCEPTED: the BMC accepted the command and reports nothing from which its effect can be seen. REFUSED: by
 * the BMC, or by a protection of the node. UNREACHABLE: the BMC did not answer before the command. NOT_VERIFIED: the command was sent, and
 * its effect was not seen. NOT_SENT: no command was sent.
 */
export const POWER_RESULTS = ['DONE', 'UNCHANGED', 'ACCEPTED', 'REFUSED', 'UNREACHABLE', 'NOT_VERIFIED', 'NOT_SENT'] as const
export type PowerResult = (typeof POWER_RESULTS)[number]

/** A power action on nodes through their BMCs. */
export const powerRuns = snakeCase.table(
  'power_runs',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    action: text().$type<PowerAction>().notNull(),
    /** BOOT_ONCE only. */
    bootDevice: text().$type<BootDevice>(),
    reason: text().notNull(),
    /** Nodes with running SlurmJobs or locks are included. */
    isForced: boolean().notNull().default(false),
    /** Cluster of the slurmctld that requested it. slurmctld suspends only idle nodes, so jobs that Muster last read do not block it. */
    slurmClusterId: uuid().references(() => slurmClusters.id, { onDelete: 'set null' }),
    /** Nodes whose command is in progress at the same time. */
    parallelism: integer().notNull(),
    /** Between the commands of two nodes. */
    delaySeconds: integer().notNull(),
    targetCount: integer().notNull(),
    /** Items without the wanted effect, at the end. */
    problemCount: integer().notNull().default(0),
    /** Token of the execution that has claimed the run, and until when. */
    claimToken: text(),
    claimedUntil: at(),
    cancelRequestedAt: at(),
    canceledByName: text(),
    startedAt: at(),
    finishedAt: at(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    status: text()
      .$type<PowerRunStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql`case when finished_at is not null then case when problem_count = 0 then 'SUCCEEDED' when cancel_requested_at is not null then 'CANCELED'
            when problem_count < target_count then 'PARTIAL' else 'FAILED' end
          when cancel_requested_at is not null then 'CANCELING' when started_at is not null then 'RUNNING' else 'PENDING' end`,
      ),
  },
  (t) => [index().on(t.tenantId, t.id), index().on(t.slurmClusterId), index().on(t.createdAt).where(sql`finished_at is null`)],
)
export type PowerRun = typeof powerRuns.$inferSelect

/** One node of a power run. */
export const powerRunItems = snakeCase.table(
  'power_run_items',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    runId: uuid()
      .notNull()
      .references(() => powerRuns.id, { onDelete: 'cascade' }),
    /** Null after the node was purged. */
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    nodeName: text().notNull(),
    before: text().$type<PowerState>(),
    after: text().$type<PowerState>(),
    /** Set before the command is sent, so that it is never sent twice. */
    sentAt: at(),
    /** What the BMC reported before the command, by which a reset is recognized: time of the last one. */
    lastResetBefore: text(),
    result: text().$type<PowerResult>(),
    /** The words of the BMC, or why the effect is not known. */
    message: text(),
    finishedAt: at(),
  },
  (t) => [
    unique().on(t.runId, t.nodeName),
    index().on(t.runId, t.id),
    index().on(t.nodeId, t.id),
    // A node executes one command at a time.
    uniqueIndex('power_run_items_active_unique').on(t.nodeId).where(sql`sent_at is not null and result is null`),
  ],
)
export type PowerRunItem = typeof powerRunItems.$inferSelect

export const BMC_DISCOVERY_STATUSES = ['PENDING', 'RUNNING', 'CANCELING', 'SUCCEEDED', 'FAILED', 'CANCELED'] as const
export type BmcDiscoveryStatus = (typeof BMC_DISCOVERY_STATUSES)[number]

/** A search of addresses for BMCs. */
export const bmcDiscoveries = snakeCase.table(
  'bmc_discoveries',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** Addresses, ranges and networks, as the caller gave them. */
    addresses: text().array().notNull(),
    protocol: text().$type<BmcProtocol>().notNull(),
    port: integer().notNull(),
    /** With it, systems are read from BMCs with a certificate that `caCertificate`, or the installation, accepts. */
    credentialId: uuid().references(() => credentials.id, { onDelete: 'set null' }),
    caCertificate: text(),
    addressCount: integer().notNull(),
    probedCount: integer().notNull().default(0),
    foundCount: integer().notNull().default(0),
    claimToken: text(),
    claimedUntil: at(),
    cancelRequestedAt: at(),
    canceledByName: text(),
    startedAt: at(),
    finishedAt: at(),
    error: text(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    status: text()
      .$type<BmcDiscoveryStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql`case when finished_at is not null then case when error is not null then 'FAILED' when cancel_requested_at is not null then 'CANCELED' else 'SUCCEEDED' end
          when cancel_requested_at is not null then 'CANCELING' when started_at is not null then 'RUNNING' else 'PENDING' end`,
      ),
  },
  (t) => [index().on(t.tenantId, t.id), index().on(t.credentialId), index().on(t.createdAt).where(sql`finished_at is null`)],
)
export type BmcDiscovery = typeof bmcDiscoveries.$inferSelect

/** A system of a BMC that a discovery found, or a BMC of which no system was read: then `systemPath` is empty. */
export const foundBmcs = snakeCase.table(
  'found_bmcs',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    discoveryId: uuid()
      .notNull()
      .references(() => bmcDiscoveries.id, { onDelete: 'cascade' }),
    address: text().notNull(),
    port: integer().notNull(),
    systemPath: text().notNull().default(''),
    /** SHA-256 of its certificate. */
    fingerprint: text(),
    /** Vendor and product of the service, without a login. */
    product: text(),
    inventory: jsonb().$type<BmcInventory>(),
    reportedState: text().$type<PowerState>(),
    /** Why its systems were not read; null when they were, or no credential was given. */
    message: text(),
    /** The node with its MAC, serial number or UUID; null when none, or several, match. */
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    matchedBy: text(),
    /** Why a person must decide: several nodes match, or the node has another BMC. */
    conflict: text(),
  },
  (t) => [unique().on(t.discoveryId, t.address, t.port, t.systemPath), index().on(t.discoveryId, t.id), index().on(t.nodeId)],
)
export type FoundBmc = typeof foundBmcs.$inferSelect
