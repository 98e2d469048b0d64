import type {
  AccountingQuery,
  FinishedFilter,
  SlurmController,
  SlurmJob,
  SlurmJobPriority,
  SlurmJobRecord,
  SlurmLicense,
  SlurmNode,
  SlurmPartition,
  SlurmQuery,
  SlurmReservation,
  SlurmScheduler,
  SlurmShare,
} from '@muster/slurm'
import { type SQL, sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { credentials } from '../credentials/tables.ts'
import { nodeGroups } from '../groups/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

/** EXTERNAL: not installed by Muster, which reads it and runs the actions of users. MANAGED: Muster installs and configures it. */
export const CLUSTER_KINDS = ['EXTERNAL', 'MANAGED'] as const
export type ClusterKind = (typeof CLUSTER_KINDS)[number]

/** WAITING: never read. NOT_ANSWERING: the last refresh failed, or no node is left to ask; what is known is older. */
export const CLUSTER_STATES = ['WAITING', 'OK', 'NOT_ANSWERING'] as const
export type ClusterCondition = (typeof CLUSTER_STATES)[number]

/** One command on a controller's host, or request to slurmrestd, as it was run. */
export type QueryReport = {
  query: SlurmQuery | AccountingQuery['query'] | 'login' | 'munge' | 'clock' | 'slurmrestd' | 'accounting' | 'rights'
  /** As a shell would show it; a request to slurmrestd as `GET PATH`. */
  command: string
  state: 'OK' | 'FAILED' | 'SKIPPED'
  /** Null when a signal or the deadline ended the command. */
  exitCode: number | null
  durationMs: number
  /** What was found, or the reason of the failure. */
  detail: string | null
  /** The next step after a failure. */
  hint: string | null
}

/** How nodes of a managed cluster get Slurm; all null: from the repositories that they have. */
export type ClusterInstall = { prefix: string | null; repositoryUrl: string | null; repositoryKey: string | null }

/** What a controller reported about itself and its cluster. */
export type ClusterIdentity = {
  clusterName: string | null
  version: string | null
  controllers: SlurmController[]
}

export const slurmClusters = snakeCase.table(
  'slurm_clusters',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** Unique in the tenant. */
    name: text().notNull(),
    kind: text().$type<ClusterKind>().notNull(),
    region: text(),
    /** The node on which the commands run: a controller, or a login node with the cluster's configuration. Null: it was deleted. */
    controllerNodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    /** Asked when the first one does not answer. */
    backupNodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    /** The node on which Muster installed slurmdbd and its database; null: none. */
    databaseNodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    /** Folder of Slurm's programs on these nodes; null: they are on the path. */
    programFolder: text(),
    /**
     * slurmrestd, which refreshes ask for nodes and jobs: its Unix socket on the controller's host, or the credential of the kind
     * SLURMRESTD for its URL, and PEM certificates of the only accepted authorities. All null: without it.
     */
    slurmrestdSocket: text(),
    slurmrestdCredentialId: uuid().references(() => credentials.id),
    slurmrestdCaCertificate: text(),
    /** Objects of the cluster that Muster never writes. */
    reuseConfig: boolean().notNull().default(true),
    reuseMungeKey: boolean().notNull().default(true),
    reuseDatabase: boolean().notNull().default(true),
    /** A scale-out beyond it is refused. Null: no limit. */
    maxNodes: integer(),
    /** Of a managed cluster; null for external ones. */
    install: jsonb().$type<ClusterInstall>(),
    /**
     * Managed clusters with Salt: the login at its salt-api, its external authentication, and PEM certificates of the only accepted
     * authorities. All null: without Salt.
     */
    saltCredentialId: uuid().references(() => credentials.id),
    saltEauth: text(),
    saltCaCertificate: text(),
    /** Whether Salt installs and removes the packages of Slurm, in place of Ansible. */
    saltInstalls: boolean().notNull().default(false),
    /** The group of a managed cluster's nodes, which has the munge key. Null: not prepared, or external. */
    nodeGroupId: uuid().references(() => nodeGroups.id, { onDelete: 'set null' }),

    /** ClusterName of slurm.conf when the cluster was added, and as it is now. */
    originalClusterName: text(),
    clusterName: text(),
    version: text(),
    controllers: jsonb().$type<SlurmController[]>().notNull().default(sql`'[]'::jsonb`),
    /** `scontrol show config`; read less often than the rest. */
    settings: jsonb().$type<Record<string, string>>().notNull().default(sql`'{}'::jsonb`),
    settingsReadAt: at(),
    reservations: jsonb().$type<SlurmReservation[]>().notNull().default(sql`'[]'::jsonb`),
    licenses: jsonb().$type<SlurmLicense[]>().notNull().default(sql`'[]'::jsonb`),
    scheduler: jsonb().$type<SlurmScheduler>(),
    /** When the cluster was read for the first time. */
    discoveredAt: at(),

    /** The version of the configuration that was rolled out or imported last; null before. */
    configNumber: integer(),
    /** Nodes besides the controllers that have configuration files of their own. */
    configNodeIds: uuid().array().notNull().default(sql`'{}'::uuid[]`),
    /** When the files on the hosts were compared with that version, and how they differ, by host; null: they are the same. */
    configCheckedAt: at(),
    configDrift: jsonb().$type<Record<string, string | null>>().notNull().default(sql`'{}'::jsonb`),

    /** The commands of the last refresh. */
    queries: jsonb().$type<QueryReport[]>().notNull().default(sql`'[]'::jsonb`),
    /** End of the last refresh that read the cluster: the age of nodes, jobs and partitions. */
    refreshedAt: at(),
    refreshDurationMs: integer(),
    /** The node through which that refresh read it, and why it was not `controllerNodeId`; null when it was. */
    readNodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    fallbackReason: text(),
    /** Since when no refresh succeeded; null after a success. */
    failingSince: at(),
    failureCount: integer().notNull().default(0),
    lastError: text(),
    nextRefreshAt: at().notNull().defaultNow(),
    /** Token of the refresh that has claimed the cluster, and until when; null when none has. */
    claimToken: text(),
    claimedUntil: at(),

    state: text()
      .$type<ClusterCondition>()
      .notNull()
      .generatedAlwaysAs(
        sql`case when failing_since is not null or coalesce(controller_node_id, backup_node_id) is null then 'NOT_ANSWERING' when refreshed_at is null then 'WAITING' else 'OK' end`,
      ),

    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [
    unique().on(t.tenantId, t.name),
    unique().on(t.controllerNodeId),
    index().on(t.nextRefreshAt),
    index().on(t.saltCredentialId),
    index().on(t.slurmrestdCredentialId),
    index().on(t.tenantId, t.id),
  ],
)
export type SlurmCluster = typeof slurmClusters.$inferSelect
export type SaltColumns = Pick<SlurmCluster, 'saltCredentialId' | 'saltEauth' | 'saltCaCertificate' | 'saltInstalls'>
export type SlurmrestdColumns = Pick<SlurmCluster, 'slurmrestdSocket' | 'slurmrestdCredentialId' | 'slurmrestdCaCertificate'>

/** Condition of SQL: the data of a cluster is current, because no refresh failed and none is late. `alias`: that of `slurm_clusters`. */
export const isCurrentCluster = (alias: string): SQL<boolean> =>
  sql.raw(`${alias}.state = 'OK' and ${alias}.next_refresh_at > now() - interval '2 minutes'`) as SQL<boolean>

const clusterRef = () =>
  uuid()
    .notNull()
    .references(() => slurmClusters.id, { onDelete: 'cascade' })
const tenantRef = () =>
  uuid()
    .notNull()
    .references(() => tenants.id)

/** How a Slurm node was matched to a node of the inventory. */
export const NODE_MATCHES = ['ADDRESS', 'HOSTNAME', 'NAME', 'BOOT_TIME', 'MANUAL'] as const
export type NodeMatch = (typeof NODE_MATCHES)[number]

export const slurmNodes = snakeCase.table(
  'slurm_nodes',
  {
    id: id(),
    tenantId: tenantRef(),
    clusterId: clusterRef(),
    /** NodeName. */
    name: text().notNull(),
    /** Slurm's words, the base state first. */
    states: text().array().notNull(),
    /** The word that sinfo shows for these states, such as DRAINING. */
    state: text().notNull(),
    partitions: text().array().notNull(),
    cpus: integer().notNull(),
    allocatedCpus: integer().notNull(),
    gpus: integer().notNull(),
    allocatedGpus: integer().notNull(),
    report: jsonb().$type<SlurmNode>().notNull(),
    /** Hash of the report, to find the rows that a refresh changes. */
    digest: text(),
    /** The same machine in the inventory; null when none, or several, match. */
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'set null' }),
    matchedBy: text().$type<NodeMatch>(),
    /** Why no node was matched although some could be: several candidates, or one of another cluster. */
    matchConflict: text(),
    /** The nodes that could be chosen, at most 10. */
    candidateIds: uuid().array().notNull().default(sql`'{}'::uuid[]`),
  },
  (t) => [unique().on(t.clusterId, t.name), index().on(t.tenantId, t.id), index().on(t.nodeId)],
)
export type SlurmNodeRow = typeof slurmNodes.$inferSelect

/** Choices of people, by NodeName: they stay while a cluster does not list the node. */
export const slurmNodeChoices = snakeCase.table(
  'slurm_node_choices',
  {
    id: id(),
    tenantId: tenantRef(),
    clusterId: clusterRef(),
    /** NodeName. */
    name: text().notNull(),
    /** Null: none of the inventory. */
    nodeId: uuid().references(() => computeNodes.id, { onDelete: 'cascade' }),
  },
  (t) => [unique().on(t.clusterId, t.name), index().on(t.tenantId), index().on(t.nodeId)],
)

export const slurmPartitions = snakeCase.table(
  'slurm_partitions',
  {
    id: id(),
    tenantId: tenantRef(),
    clusterId: clusterRef(),
    name: text().notNull(),
    report: jsonb().$type<SlurmPartition>().notNull(),
  },
  (t) => [unique().on(t.clusterId, t.name), index().on(t.tenantId, t.id)],
)
export type SlurmPartitionRow = typeof slurmPartitions.$inferSelect

export const slurmJobs = snakeCase.table(
  'slurm_jobs',
  {
    id: id(),
    tenantId: tenantRef(),
    clusterId: clusterRef(),
    /** As squeue shows it: 15, 3_1, 3_[2-9%2], 12+1. */
    jobId: text().notNull(),
    state: text().notNull(),
    /** Slurm's word for why it does not run or has ended. */
    reason: text(),
    userName: text(),
    partition: text().notNull(),
    /** Names of the allocated nodes. */
    nodeNames: text().array().notNull(),
    report: jsonb().$type<SlurmJob>().notNull(),
    /** Hash of the report, to find the rows that a refresh changes. */
    digest: text(),
  },
  (t) => [
    unique().on(t.clusterId, t.jobId),
    index().on(t.clusterId, t.state),
    index().on(t.tenantId, t.id),
    index().using('gin', t.nodeNames),
  ],
)
export type SlurmJobRow = typeof slurmJobs.$inferSelect

/** A staged test of a controller, before or after its cluster is added. */
export const slurmClusterTests = snakeCase.table(
  'slurm_cluster_tests',
  {
    id: id(),
    tenantId: tenantRef(),
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    programFolder: text(),
    /** As in `slurm_clusters`. */
    slurmrestdSocket: text(),
    slurmrestdCredentialId: uuid().references(() => credentials.id, { onDelete: 'set null' }),
    slurmrestdCaCertificate: text(),
    queries: jsonb().$type<QueryReport[]>().notNull().default(sql`'[]'::jsonb`),
    /** Set at the end, when the cluster could be read. */
    preview: jsonb().$type<ClusterIdentity & { nodes: number; cpus: number; gpus: number; jobs: number; partitions: string[] }>(),
    isOk: boolean(),
    error: text(),
    createdAt: createdAt(),
    startedAt: at(),
    finishedAt: at(),
  },
  (t) => [
    index().on(t.tenantId, t.id),
    index().on(t.nodeId, t.id),
    index().on(t.slurmrestdCredentialId),
    index().on(t.createdAt).where(sql`finished_at is null`),
  ],
)
export type SlurmClusterTest = typeof slurmClusterTests.$inferSelect

/** FINISHED: the jobs that ended in a period, newest first. JOB: one job with its steps. PRIORITY: factors and shares of a pending job. */
export type SlurmLookupRequest =
  | {
      kind: 'FINISHED'
      filter: FinishedFilter
      sinceSeconds: number
      /** Null: now, by the worker's clock. */
      untilSeconds: number | null
      /** Jobs that are after this one in the list; null: from the first. */
      after: SlurmLookupCursor | null
      limit: number
    }
  | { kind: 'JOB'; jobId: string }
  | { kind: 'PRIORITY'; jobId: string; user: string | null; account: string | null }

/** The place of a job in the list of finished jobs; without an ID, before all jobs that ended in that second. */
export type SlurmLookupCursor = { endSeconds: number; id: number | null }

export type SlurmLookupResult = {
  /** False when the lookup failed because the cluster records no jobs. */
  hasAccounting: boolean
  jobs: SlurmJobRecord[]
  /** Seconds since 1970; null unless finished jobs were searched. Earlier jobs were not searched. */
  searchedSinceSeconds: number | null
  /** Where to continue; null at the end. */
  next: SlurmLookupCursor | null
  priorities: SlurmJobPriority[]
  shares: SlurmShare[]
}

/** Commands that a worker runs in a cluster on demand, and what they printed. They are deleted after an hour. */
export const slurmLookups = snakeCase.table(
  'slurm_lookups',
  {
    id: id(),
    tenantId: tenantRef(),
    clusterId: clusterRef(),
    request: jsonb().$type<SlurmLookupRequest>().notNull(),
    /** Set at the end when it succeeded. */
    result: jsonb().$type<SlurmLookupResult>(),
    /** Why it failed, for the user. */
    error: text(),
    createdAt: createdAt(),
    startedAt: at(),
    finishedAt: at(),
  },
  (t) => [index().on(t.tenantId, t.id), index().on(t.clusterId), index().on(t.createdAt)],
)
export type SlurmLookup = typeof slurmLookups.$inferSelect
