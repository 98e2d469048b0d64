import type { AnyRelations, EmptyRelations } from 'drizzle-orm'
import type { Db, PoolDb, Tx } from './db/client.ts'
import { recordChanges } from './db/record-changes.ts'
import type { TenantDbs } from './db/tenant-db.ts'
import { Forbidden, NotFound, StepUpRequired } from './errors.ts'
import type { ChangeEvent } from './events.ts'
import type { Log } from './log.ts'
import { defineMessages } from './messages.ts'
import type { Authority, Permission } from './permissions.ts'
import type { Queue } from './queue.ts'

export type { Tx } from './db/client.ts'

/**
 * The caller. `system` is Muster itself (reconcilers, first start); `worker` is a worker process that reports what it observed;
 * `agent` is the daemon on a node.
 */
export type Actor =
  | ({ kind: 'user'; id: string; name: string } & Authority)
  | ({ kind: 'token'; id: string; name: string; userId: string | null } & Authority)
  | { kind: 'worker'; id: string; name: string }
  /** The agent of a node. `id` is the node ID; null while unknown. */
  | { kind: 'agent'; id: string | null; name: string }
  | { kind: 'system'; id: null; name: string }

/** Muster itself. */
export const SYSTEM: Actor = { kind: 'system', id: null, name: 'Muster' }

/** Encrypts and decrypts secret fields; created by `openVault` of core/credentials. */
export type Vault = {
  /** Encrypts with the newest key, which it reads from the database for each call: do not await it inside a transaction. */
  encrypt(place: EncryptionContext, text: string): Promise<string>
  /** @throws Error when the record was encrypted for another place, was changed, or its key is unknown here */
  open(place: EncryptionContext, record: string): Promise<string>
  /** The newest key version. */
  newestVersion(): Promise<number>
  /** Returns 32 secret bytes that only `purpose` and `version` determine. A change of the master password does not change them. */
  derive(purpose: string, version: number): Promise<Buffer>
  /** Returns the row of a new key version. Uses only `tx`, because the pool may have no free connection. */
  makeKey(tx: Db | Tx, version: number): Promise<{ version: number; salt: string; proof: string }>
}
/** Where an encrypted record belongs. It does not decrypt in another field, row or tenant. */
export type EncryptionContext = { tenantId: string; objectId: string; field: string }

type Services = { queue: Queue; notify: (changeEvent: ChangeEvent) => void; log: Log; vault: Vault }
/**
 * Services that a process creates at start and passes to every verb. `db` sees all tenants: only the files that
 * `system-role.test.ts` lists use it. Everything else uses `tenantCtx`.
 */
export type Runtime<R extends AnyRelations = EmptyRelations> = Services & { db: PoolDb<R>; tenantDb: TenantDbs<R> }
/** The caller of a verb that acts over all tenants, such as a reconciler. Its `db` bypasses row-level security. */
export type SystemCtx<R extends AnyRelations = EmptyRelations> = Services & {
  db: Db<R>
  tenantDb: TenantDbs<R>
  actor: Actor
} & RequestFields
/** Facts of the request, for the audit log; missing in processes without requests. */
type RequestFields = { requestId?: string | undefined; origin?: Origin | undefined; attempt?: Attempt | undefined }
/**
 * The caller of a verb. Every read and write is inside `tenantId`: row-level security hides all other rows from `db`. Inside
 * `inTransaction`, `db` is the transaction.
 */
export type Ctx<R extends AnyRelations = EmptyRelations> = SystemCtx<R> & {
  tenantId: string
  /** The run on whose behalf a worker acts. */
  runId?: string
  identityConfirmedUntil?: Date | null | undefined
  /** Bypasses row-level security: for the few statements of a tenant's verbs that concern the whole installation. */
  systemDb: Db
}

/** Channel and client of a caller, for the audit log. */
export type Origin = {
  channel: 'console' | 'api' | 'cli' | 'agent'
  /** Network address of the client. */
  address: string | null
  userAgent: string | null
  /** Row ID of the session; null for tokens. */
  sessionId: string | null
}

/**
 * State of one mutation for the audit log: the first permission that it required, whether an entry was recorded, and the action, when
 * the mutation does several things.
 */
export type Attempt = {
  permission?: string
  isRecorded?: boolean
  action?: { readonly name: string }
  /** Email address of the user whose sign-in failed, when it became known during the attempt. */
  userEmail?: string
}

/** Muster itself, over all tenants. */
export const systemCtx = <R extends object>(runtime: R): R & { actor: Actor } => ({ ...runtime, actor: SYSTEM })

/** A caller in a tenant. Its `db` sees only that tenant. */
export const tenantCtx = <R extends { db: unknown; tenantDb(tenantId: string): unknown }>(
  runtime: R,
  tenantId: string,
  actor: Actor,
): Omit<R, 'db' | 'actor'> & { db: ReturnType<R['tenantDb']>; systemDb: R['db']; tenantId: string; actor: Actor } => ({
  ...runtime,
  db: runtime.tenantDb(tenantId) as ReturnType<R['tenantDb']>,
  systemDb: runtime.db,
  tenantId,
  actor,
})

/** Why a caller may not do something. */
export const accessMessages = defineMessages('access', {
  roleLacks: 'This needs the permission {permission}, which the role {holder} includes; yours, {role}, does not.',
})

const OF_INSTALLATION = ' If you are one, use a token with these permissions: `muster login URL --installation-admin`.'

/** Why `actor` does not hold `permission` in the whole tenant; null when it does. */
export function permissionDeniedReason(actor: Actor, { name, holder, isPerCluster }: Permission): string | null {
  if (actor.kind === 'worker') return null
  if (holder === 'worker') return 'Only a worker may do this.'
  if (actor.kind === 'system' || (actor.kind === 'agent' && holder === 'agent')) return null
  if (actor.kind === 'agent' || holder === 'system' || holder === 'agent') return 'Only Muster itself may do this.'
  if (actor.permissions.has(name)) return null
  if (holder === 'installation')
    return `This needs an installation administrator (permission ${name}). Ask one.${actor.kind === 'token' ? OF_INSTALLATION : ''}`
  if (isGranted(actor, name))
    return `This needs the permission ${name} in the whole tenant; you hold it only for ${isPerCluster ? 'some Slurm clusters or partitions' : 'nodes of some groups'}, through a grant.`
  return accessMessages.roleLacks({ permission: name, holder, role: actor.role })
}

/**
 * Why `actor` holds `permission` for no node or cluster; null when it holds it in the tenant or through a grant. For blocked reasons; a
 * verb that relies on it decides with `authorizeNodes` or `authorizeCluster`.
 */
export const deniedEverywhereReason = (actor: Actor, permission: Permission): string | null =>
  (permission.isPerNode || permission.isPerCluster) && 'grants' in actor && isGranted(actor, permission.name)
    ? null
    : permissionDeniedReason(actor, permission)

const isGranted = ({ grants }: Authority, name: string): boolean => grants.some(({ permissions }) => permissions.has(name))

/**
 * Throws StepUpRequired when the caller's last proof of identity is too old. Tokens are never asked: their expiry, permissions and
 * networks limit them.
 * @param caller `identityConfirmedUntil`: null or missing when the caller has no session, or its tenant does not ask
 */
export function assertIdentityConfirmed({ identityConfirmedUntil }: { identityConfirmedUntil?: Date | null | undefined }): void {
  if (identityConfirmedUntil && identityConfirmedUntil.getTime() <= Date.now()) throw new StepUpRequired()
}

/**
 * Throws Forbidden when the caller does not hold `permission` in the whole tenant.
 * @param object the row that the verb acts on, when already read; NotFound when it belongs to another tenant
 */
export function authorize<C extends { actor: Actor }>(ctx: C, permission: Permission): void
export function authorize(ctx: Pick<Ctx, 'actor' | 'tenantId'>, permission: Permission, object: TenantObject): void
export function authorize(
  ctx: { actor: Actor; tenantId?: string; attempt?: Attempt; identityConfirmedUntil?: Date | null | undefined },
  permission: Permission,
  object?: TenantObject,
): void {
  if (ctx.attempt) ctx.attempt.permission ??= permission.name
  const reason = permissionDeniedReason(ctx.actor, permission)
  if (reason) throw new Forbidden(reason)
  if (permission.needsConfirmedIdentity) assertIdentityConfirmed(ctx)
  if (object && object.tenantId !== ctx.tenantId) throw new NotFound(`There is no such object ${object.id}.`)
}

/**
 * Throws Forbidden when the caller holds `permission` for no node or cluster. The verb must call `authorizeNodes` when it knows the nodes,
 * `authorizeCluster` or `authorizeTargets` when it knows the cluster.
 */
export function authorizeSomewhere(
  ctx: { actor: Actor; attempt?: Attempt; identityConfirmedUntil?: Date | null | undefined },
  permission: Permission,
): void {
  if (ctx.attempt) ctx.attempt.permission ??= permission.name
  const reason = deniedEverywhereReason(ctx.actor, permission)
  if (reason) throw new Forbidden(reason)
  if (permission.needsConfirmedIdentity) assertIdentityConfirmed(ctx)
}
type TenantObject = { id: string; tenantId: string }

/**
 * Columns that record the caller. `<verb>ById` is the user: a token's owner, or null for Muster, workers, agents and deleted users.
 * `<verb>ByName` is the caller's name at that time.
 * @param verb past participle, for example `revoked`
 */
export const actorColumns = <Verb extends string>({ actor }: { actor: Actor }, verb: Verb) =>
  ({
    [`${verb}ById`]: actor.kind === 'user' ? actor.id : actor.kind === 'token' ? actor.userId : null,
    [`${verb}ByName`]: actor.name,
  }) as { [Column in `${Verb}ById`]: string | null } & { [Column in `${Verb}ByName`]: string }

/** Columns that record who created a row. */
export const createdBy = (ctx: { actor: Actor }) => actorColumns(ctx, 'created')

type Transactional = Pick<SystemCtx, 'db' | 'notify'> & { attempt?: Attempt | undefined }

/**
 * Runs `work` in one transaction, rolled back when `work` throws. `work` gets the transaction and a ctx whose `db` is that
 * transaction: a verb called with that ctx joins it, in a savepoint. `ctx.notify` inside `work` sends nothing before the outermost
 * commit: a NOTIFY inside the transaction would serialize all commits of the server. The transaction of a mutation records its
 * changes for the audit log.
 */
export async function inTransaction<C extends Transactional, T>(ctx: C, work: (tx: Tx, ctx: C) => Promise<T>): Promise<T> {
  const changeEvents: ChangeEvent[] = []
  const notify = (changeEvent: ChangeEvent) => void changeEvents.push(changeEvent)
  const result = await ctx.db.transaction((tx) => {
    if (ctx.attempt) recordChanges(tx, ctx.db)
    return work(tx, { ...ctx, db: tx, notify })
  })
  for (const changeEvent of changeEvents) ctx.notify(changeEvent)
  return result
}

class DryRunDone<T> extends Error {
  readonly result: T
  constructor(result: T) {
    super('dry run')
    this.result = result
  }
}

/** Runs `work` like `inTransaction`, then rolls everything back and emits nothing. @returns what `work` returned */
export async function dryRun<C extends Transactional, T>(ctx: C, work: (tx: Tx, ctx: C) => Promise<T>): Promise<T> {
  try {
    return await ctx.db.transaction(async (tx) => {
      throw new DryRunDone(await work(tx, { ...ctx, db: tx, notify() {} }))
    })
  } catch (error) {
    if (error instanceof DryRunDone) return error.result
    throw error
  }
}
