import type { Accelerator, Discovery } from '@muster/discovery'
import { getColumns, sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  snakeCase,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { credentials } from '../credentials/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'

export const NODE_STATUSES = ['NEW', 'READY', 'UNREACHABLE', 'MAINTENANCE', 'DECOMMISSIONED'] as const

export type NodeStatus = (typeof NODE_STATUSES)[number]

export const NODE_TYPES = ['COMPUTE', 'LOGIN', 'CONTROLLER', 'STORAGE', 'OTHER'] as const

export type NodeType = (typeof NODE_TYPES)[number]

export const CONNECTION_TYPES = ['ssh', 'local'] as const

export type ConnectionType = (typeof CONNECTION_TYPES)[number]

export const computeNodes = snakeCase.table(
  'compute_nodes',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** Inventory name, unique in the tenant. */
    name: text().notNull(),
    displayName: text(),
    host: text().notNull(),
    port: integer().notNull().default(22),
    connectionType: text().$type<ConnectionType>().notNull().default('ssh'),
    sshUser: text(),
    nodeType: text().$type<NodeType>().notNull().default('COMPUTE'),
    /** Location as reported by the agent or set by a user; used in filters. */
    region: text(),
    datacenter: text(),
    /** Rack, and the position in it, as the site names them: `A12`, `U07`. */
    rack: text(),
    rackPosition: text(),
    /** Normalized, see network/xname.ts. */
    xname: text(),
    /** Node ID of the boot service. */
    nid: integer(),
    /** Address in the management network. */
    managementIp: text(),
    tags: text().array().notNull().default(sql`'{}'::text[]`),
    labels: jsonb().$type<Record<string, string>>().notNull().default(sql`'{}'::jsonb`),
    notes: text().notNull().default(''),
    credentialId: uuid().references(() => credentials.id),
    becomeCredentialId: uuid().references(() => credentials.id),
    bastionId: uuid().references(() => credentials.id),

    /** Pinned host key as `type base64`. Without one only connection tests may connect. */
    hostKey: text(),
    hostKeyApprovedAt: at(),
    /** The last offered key that is not approved. With `host_key` set it is an alarm: the key changed. */
    offeredHostKey: text(),
    offeredHostKeyAt: at(),

    // Results of the last discovery; null before it.
    arch: text(),
    osName: text(),
    osId: text(),
    osVersion: text(),
    kernel: text(),
    cpuModel: text(),
    cpuSockets: integer(),
    cpuCores: integer(),
    cpuThreads: integer(),
    memoryBytes: bigint({ mode: 'number' }),
    machineId: text(),
    bootId: text(),
    bootedAt: at(),
    facts: jsonb().$type<Discovery['host']>(),
    discoveredAt: at(),

    // Facts from which the status is derived.
    readyAt: at(),
    lastSeenAt: at(),
    unreachableSince: at(),
    unreachableReason: text(),
    maintenanceAt: at(),
    /** When it ends by itself; null: a user, or the run, ends it. */
    maintenanceUntil: at(),
    maintenanceReason: text(),
    maintenanceById: userRef(),
    maintenanceByName: text(),
    /** The run that set it and ends it; null when a user did. Without a reference: runs.tables imports this file. */
    maintenanceRunId: uuid(),
    decommissionedAt: at(),
    status: text()
      .$type<NodeStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql`case when decommissioned_at is not null then 'DECOMMISSIONED'
          when maintenance_at is not null then 'MAINTENANCE'
          when unreachable_since is not null then 'UNREACHABLE'
          when ready_at is not null then 'READY'
          else 'NEW' end`,
      ),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [
    unique().on(t.tenantId, t.name),
    unique().on(t.tenantId, t.xname),
    unique().on(t.tenantId, t.nid),
    index().on(t.tenantId, t.status),
    index().on(t.tenantId, t.id),
    // BMCs are matched by these. Truncated, because a node can report a text that is too long for an index.
    index('compute_nodes_serial_index').on(t.tenantId, sql`left(${t.facts} -> 'dmi' ->> 'serial', 128)`),
    index('compute_nodes_uuid_index').on(t.tenantId, sql`lower(left(${t.facts} -> 'dmi' ->> 'uuid', 128))`),
    index().using('gin', t.tags),
    index().on(t.credentialId),
    index().on(t.becomeCredentialId),
    index().on(t.bastionId),
    index().on(t.maintenanceUntil).where(sql`maintenance_until is not null`),
    index().on(t.maintenanceRunId).where(sql`maintenance_run_id is not null`),
    index('compute_nodes_decommissioned_index').on(t.id).where(sql`decommissioned_at is not null`),
  ],
)

export type ComputeNode = typeof computeNodes.$inferSelect

/** A node without its `facts` of about 10 kB, for queries of many nodes. */
export type LeanNode = Omit<ComputeNode, 'facts'>

const { facts: _facts, ...leanColumns } = getColumns(computeNodes)
export const LEAN_NODE = leanColumns

export type InterfaceAddress = { address: string; network: string | null }

/** Network interfaces as users enter them. Network boot finds a node by the MAC. */
export const nodeInterfaces = snakeCase.table(
  'node_interfaces',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** Lower case with colons. */
    mac: text().notNull(),
    /** The node boots from this interface. */
    isBoot: boolean().notNull().default(false),
    addresses: jsonb().$type<InterfaceAddress[]>().notNull().default(sql`'[]'::jsonb`),
    /** Order in the list of the user, from 0. */
    position: integer().notNull().default(0),
  },
  (t) => [unique().on(t.tenantId, t.mac), unique().on(t.nodeId, t.name), uniqueIndex().on(t.nodeId).where(sql`${t.isBoot}`)],
)
export type NodeInterface = typeof nodeInterfaces.$inferSelect

export const BMC_PROTOCOLS = ['REDFISH', 'IPMI'] as const
export type BmcProtocol = (typeof BMC_PROTOCOLS)[number]

/** The BMC of a node. Several nodes of a chassis can share one address: then each has the path of its system. */
export const nodeBmcs = snakeCase.table(
  'node_bmcs',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    nodeId: uuid()
      .notNull()
      .unique()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    /** Host name or IP address. */
    address: text().notNull(),
    port: integer().notNull(),
    /** Lower case with colons. */
    mac: text(),
    protocol: text().$type<BmcProtocol>().notNull(),
    /** A credential of the kind BMC. */
    credentialId: uuid()
      .notNull()
      .references(() => credentials.id),
    /**
     * REDFISH only: SHA-256 of the only accepted certificate, 64 hex digits, or PEM certificates of the only accepted authorities. Both
     * null: the authorities that the installation trusts.
     */
    fingerprint: text(),
    caCertificate: text(),
    /** REDFISH only: path of the node among the systems of the BMC; empty when it has one. */
    systemPath: text().notNull().default(''),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.address, t.port, t.systemPath), index().on(t.credentialId)],
)
export type NodeBmc = typeof nodeBmcs.$inferSelect

export const accelerators = snakeCase.table(
  'accelerators',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    /** Identifies the device across discoveries; see accelerator-identity.ts. */
    identity: text().notNull(),
    deviceType: text().$type<Accelerator['deviceType']>().notNull(),
    vendor: text().notNull(),
    model: text(),
    /** The tool's number of the device; its position in the discovery when the tool reports none. */
    index: integer().notNull(),
    uuid: text(),
    serial: text(),
    slot: text(),
    pciAddress: text(),
    memoryTotal: bigint({ mode: 'number' }),
    memoryUsed: bigint({ mode: 'number' }),
    isMemoryUnified: boolean().notNull().default(false),
    driverVersion: text(),
    firmwareVersion: text(),
    toolkitVersion: text(),
    computeCapability: text(),
    partitionMode: text(),
    partitions: jsonb().$type<Accelerator['partitions']>().notNull().default(sql`'[]'::jsonb`),
    numaNode: integer(),
    interconnect: text(),
    eccMode: text().$type<Accelerator['eccMode']>(),
    eccErrors: jsonb().$type<Accelerator['eccErrors']>(),
    temperature: doublePrecision(),
    power: doublePrecision(),
    utilization: doublePrecision(),
    health: text().$type<Accelerator['health']>().notNull(),
    healthReason: text(),
    source: text().$type<Accelerator['source']>().notNull(),
    confidence: text().$type<Accelerator['confidence']>().notNull().default('high'),
    firstSeenAt: createdAt(),
    lastSeenAt: createdAt(),
  },
  (t) => [unique().on(t.nodeId, t.identity), index().on(t.tenantId, t.deviceType), index().on(t.tenantId, t.id)],
)
