import { is } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import { accessDomain } from './access/domain.ts'
import { agentsDomain } from './agents/domain.ts'
import { alertsDomain } from './alerts/domain.ts'
import { artifactsDomain } from './artifacts/domain.ts'
import { auditDomain } from './audit/domain.ts'
import { auditSinksDomain } from './audit-sinks/domain.ts'
import { bootProfilesDomain } from './boot-profiles/domain.ts'
import { bootServiceDomain } from './boot-service/domain.ts'
import { clustersDomain } from './clusters/domain.ts'
import { connectionsDomain } from './connections/domain.ts'
import { credentialsDomain } from './credentials/domain.ts'
import { discoveriesDomain } from './discoveries/domain.ts'
import { grantsDomain } from './grants/domain.ts'
import { groupsDomain } from './groups/domain.ts'
import { heartbeatsDomain } from './heartbeats/domain.ts'
import { idempotencyDomain } from './idempotency/domain.ts'
import { type Config, processSettings } from './kernel/config.ts'
import type { Ctx as AnyCtx, Runtime as AnyRuntime, SystemCtx as AnySystemCtx } from './kernel/context.ts'
import type { Db } from './kernel/db/client.ts'
import type { Domain } from './kernel/domain.ts'
import { outboundSettings } from './kernel/outbound/index.ts'
import { ledgerDomain } from './ledger/domain.ts'
import { manifestsDomain } from './manifests/domain.ts'
import { nodeStatesDomain } from './node-states/domain.ts'
import { nodesDomain } from './nodes/domain.ts'
import { openchamiDomain } from './openchami/domain.ts'
import { powerDomain } from './power/domain.ts'
import { rotationsDomain } from './rotations/domain.ts'
import { runQueueDomain } from './run-queue/domain.ts'
import { runsDomain } from './runs/domain.ts'
import { schedulesDomain } from './schedules/domain.ts'
import { slurmActionsDomain } from './slurm-actions/domain.ts'
import { slurmConfigsDomain } from './slurm-configs/domain.ts'
import { slurmOperationsDomain } from './slurm-operations/domain.ts'
import { slurmPowerDomain } from './slurm-power/domain.ts'
import { slurmScalingDomain } from './slurm-scaling/domain.ts'
import { systemDomain } from './system/domain.ts'
import { templatesDomain } from './templates/domain.ts'
import { triggersDomain } from './triggers/domain.ts'
import { variablesDomain } from './variables/domain.ts'
import { workersDomain } from './workers/domain.ts'

/** Every domain. Only apps and tests import this module. */
export const domains = [
  accessDomain,
  agentsDomain,
  alertsDomain,
  artifactsDomain,
  auditDomain,
  auditSinksDomain,
  bootProfilesDomain,
  bootServiceDomain,
  clustersDomain,
  connectionsDomain,
  credentialsDomain,
  discoveriesDomain,
  grantsDomain,
  groupsDomain,
  heartbeatsDomain,
  idempotencyDomain,
  ledgerDomain,
  manifestsDomain,
  nodesDomain,
  nodeStatesDomain,
  openchamiDomain,
  powerDomain,
  rotationsDomain,
  runQueueDomain,
  runsDomain,
  schedulesDomain,
  slurmActionsDomain,
  slurmOperationsDomain,
  slurmConfigsDomain,
  slurmPowerDomain,
  slurmScalingDomain,
  systemDomain,
  templatesDomain,
  triggersDomain,
  variablesDomain,
  workersDomain,
] as const

type Registered = (typeof domains)[number]
type Flatten<T> = { [K in keyof T]: T[K] }
type Intersection<U> = (U extends unknown ? (part: U) => void : never) extends (all: infer I) => void ? I : never
/** The union of the domains' `Field`, as one object type. */
type Merged<Field extends keyof Domain> = Flatten<
  Intersection<Registered extends infer D ? (D extends Record<Field, infer Part> ? Part : never) : never>
>
/** Of the exports of `tables.ts`, the tables. */
type TablesOf<T> = { [K in keyof T as T[K] extends PgTable ? K : never]: T[K] }

const merge = <Field extends keyof Domain>(field: Field) =>
  Object.assign({}, ...domains.map((domain: Domain) => domain[field])) as Merged<Field>

/** Every table. */
export const schema = Object.fromEntries(
  Object.entries(merge('tables')).filter(([, table]) => is(table, PgTable)),
) as unknown as TablesOf<Merged<'tables'>>
/** Every table's relations, for relational queries. */
export const relations = merge('relations')
/** Every setting, by the name of its environment variable. */
export const settings = { ...processSettings, ...outboundSettings, ...merge('settings') }
/** Tables of the types that have a global id, by type name. */
export const graphqlIds = merge('graphqlIds')
export const permissions = merge('permissions')
export const auditActions = merge('auditActions')
export const changeEvents = domains.flatMap((domain: Domain) => domain.changeEvents ?? [])
export const queues = domains.flatMap((domain: Domain) => domain.queues ?? [])

/** Values of every setting. */
export type AllSettings = Config<typeof settings>
export type Relations = typeof relations
/** A database handle, and the contexts that carry it, with relational queries over every table. */
export type Database = Db<Relations>
export type Runtime = AnyRuntime<Relations>
export type SystemCtx = AnySystemCtx<Relations>
export type Ctx = AnyCtx<Relations>
