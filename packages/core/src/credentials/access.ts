import type { Discovery } from '@muster/discovery'
import { and, eq, sql } from 'drizzle-orm'
import { assertAllowedHost } from '../kernel/allowed-hosts.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, DomainError, NotFound } from '../kernel/errors.ts'
import { computeNodes, LEAN_NODE, type LeanNode } from '../nodes/tables.ts'
import { credentialAudit } from './audit-actions.ts'
import { auditDecryption } from './audit-decryption.ts'
import { MAX_HOPS } from './bastions.ts'
import { credentialPermissions } from './permissions.ts'
import { repositoryBlockedReason } from './policy.ts'
import { rotatedPasswords } from './rotated-passwords.ts'
import { type ReadSecret, storedFields, storedKey } from './secret-source.ts'
import { type Credential, type CredentialKind, credentials, type SecretField } from './tables.ts'

export { unapprovedHopReason } from './bastions.ts'
export { decryptRotationSecrets } from './decrypt-rotation-secrets.ts'
export { decryptRunSecrets } from './decrypt-run-secrets.ts'
export { decryptSecretVars } from './decrypt-secret-vars.ts'
export {
  decryptLedgerSinkSecrets,
  decryptOpenchamiSecrets,
  decryptRouteSecrets,
  decryptSinkSecrets,
} from './decrypt-target-secrets.ts'
export type { OpenStore, ReadSecret } from './secret-source.ts'

export type Login = { username: string; privateKey?: string; passphrase?: string; password?: string }
/** One bastion of the route. */
export type Hop = {
  credentialId: string
  name: string
  host: string
  port: number
  login: Login
  /** The pinned host key, `type base64`; null when none is approved yet. */
  hostKey: string | null
  /** The last offered host key that differed from the pinned one. */
  offeredHostKey: string | null
}
export type NodeAccess = {
  node: LeanNode
  /** The Python interpreter from the last discovery; null before the first one. */
  python: Discovery['host']['python'] | null
  /** Outermost first; empty when the node is reached directly. */
  hops: Hop[]
  login: Login
  become: { method: 'sudo' | 'su'; user: string; password: string | null }
}

/** The node column that refers to credentials of each kind. */
const PLACE_OF = {
  SSH_KEY: 'credentialId',
  SSH_PASSWORD: 'credentialId',
  BASTION: 'bastionId',
  BECOME: 'becomeCredentialId',
} as const satisfies Record<Exclude<CredentialKind, 'GIT' | 'SALT' | 'SLURMRESTD' | 'BMC'>, keyof LeanNode>

/**
 * Resolves how to log in to nodes, with decrypted secrets. Uses at most four statements for any number of nodes and decrypts
 * each secret once. A node without a usable login has the reason instead, for example a host outside the allowed hosts of a
 * password. Callers check the pinned host key when they connect.
 * @param readSecret reads secrets from secret stores
 * @param instead id of a credential that replaces the nodes' own of its kind, if it still exists
 * @throws Forbidden when the caller is not a worker
 */
export async function resolveNodeAccess(
  ctx: Ctx,
  nodeIds: string[],
  { instead, readSecret = noStore }: { instead?: string | null; readSecret?: ReadSecret } = {},
): Promise<Map<string, NodeAccess | DomainError>> {
  authorize(ctx, credentialPermissions.decrypt)
  const asTheyAre = await ctx.db
    .select({ ...LEAN_NODE, python: sql<NodeAccess['python']>`${computeNodes.facts} -> 'python'` })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
  const [tried] = instead
    ? await ctx.db
        .select({ id: credentials.id, kind: credentials.kind })
        .from(credentials)
        .where(and(visibleTo(ctx, credentials), eq(credentials.id, instead)))
    : []
  const place = tried && tried.kind in PLACE_OF ? PLACE_OF[tried.kind as keyof typeof PLACE_OF] : null
  const nodes = place ? asTheyAre.map((node) => ({ ...node, [place]: tried!.id })) : asTheyAre
  const found = new Map(nodes.map((node) => [node.id, node]))
  const direct = nodes.flatMap((n) => [n.credentialId, n.becomeCredentialId, n.bastionId]).filter((id) => id !== null)
  // Before the credentials: a rotation that switches its credential in between is in one of the two results.
  const rotated = await rotatedPasswords(ctx, nodeIds)
  const known = await credentialsWithBastions(ctx, [...new Set(direct)])
  await auditDecryption(
    ctx,
    credentialAudit.decrypt,
    withSecrets(known),
    nodeIds.length === 1 ? { node: nodes[0]?.name } : { nodes: nodeIds.length },
  )
  const open = await opener(ctx, known, readSecret)
  const entries = await Promise.all(
    nodeIds.map(async (id): Promise<[string, NodeAccess | DomainError]> => {
      const node = found.get(id)
      if (!node) return [id, new NotFound(`There is no node ${id}.`)]
      try {
        return [id, await accessOf(node, known, withRotated(open, rotated.get(id)))]
      } catch (error) {
        if (error instanceof DomainError) return [id, error]
        ctx.log.error({ err: error, node: node.name }, 'cannot open a credential')
        return [id, new Conflict(`A credential of the node ${node.name} cannot be decrypted. Save its secrets again.`)]
      }
    }),
  )
  return new Map(entries)
}

/** Returns the credentials with these ids and their bastions, by id. Records their use, at most once a minute each. */
async function credentialsWithBastions(ctx: Ctx, ids: string[]): Promise<Map<string, Credential>> {
  if (ids.length === 0) return new Map()
  const rows = await ctx.db
    .select()
    .from(credentials)
    .where(
      and(
        visibleTo(ctx, credentials),
        sql`${credentials.id} in (with recursive way as (
          select c.id, c.via_id, 1 as hops from credentials c where c.id = any(${sql.param(ids)}::uuid[])
          union all select c.id, c.via_id, w.hops + 1 from credentials c join way w on c.id = w.via_id where w.hops < ${MAX_HOPS}
        ) select id from way)`,
      ),
    )
  const stale = rows.filter((row) => !row.lastUsedAt || row.lastUsedAt.getTime() < Date.now() - 60_000).map((row) => row.id)
  if (stale.length > 0) {
    // Skip locked rows. This write must not wait, and concurrent callers with the same rows cannot deadlock.
    const free = ctx.db
      .select({ id: credentials.id })
      .from(credentials)
      .where(and(visibleTo(ctx, credentials), isOneOf(credentials.id, stale)))
      .for('update', { skipLocked: true })
    await ctx.db
      .update(credentials)
      .set({ lastUsedAt: sql`now()`, updatedAt: sql`${credentials.updatedAt}` })
      .where(sql`${credentials.id} in (${free})`)
  }
  return new Map(rows.map((row) => [row.id, row]))
}

/** One row per credential: a run resolves all its nodes in one call. */
const withSecrets = (known: Map<string, Credential>) =>
  [...known.values()].filter(({ encrypted, secretRefs }) => Object.keys(encrypted).length + Object.keys(secretRefs).length > 0)

const noStore: ReadSecret = (store) => {
  throw new Conflict(`The secret store ${store.name} is not read by this process.`)
}

/** As `open`, with the password that a rotation in progress has set on the node. */
const withRotated = (open: Open, rotated: { credentialId: string; password: () => Promise<string> } | undefined): Open =>
  rotated
    ? (credential, field) =>
        credential.id === rotated.credentialId && field === 'password' ? rotated.password() : open(credential, field)
    : open

type Open = (credential: Credential, field: SecretField) => Promise<string | undefined>

/** Returns a function that decrypts fields of `known` or reads them from a secret store, each once. */
async function opener(ctx: Ctx, known: Map<string, Credential>, readSecret: ReadSecret): Promise<Open> {
  const stored = await storedFields(ctx, known.values(), readSecret)
  const opened = new Map<string, Promise<string | undefined>>()
  return (credential, field) => {
    const record = credential.encrypted[field]
    const key = `${credential.id}.${field}`
    const value =
      opened.get(key) ??
      (record === undefined
        ? stored(credential, field)
        : ctx.vault.open({ tenantId: ctx.tenantId, objectId: credential.id, field }, record))
    opened.set(key, value)
    return value
  }
}

/** Login for a Git server. */
export type GitLogin = Login & {
  /** The pinned host key, `type base64`; ssh:// only. */
  hostKey: string | null
}

/**
 * Returns the decrypted login of a credential for the Git server of `url`.
 * @throws Forbidden when the caller is not a worker
 * @throws DomainError the credential is gone, is for another server, or cannot be decrypted
 */
export async function openGitLogin(ctx: Ctx, id: string, url: string, readSecret: ReadSecret = noStore): Promise<GitLogin> {
  authorize(ctx, credentialPermissions.decrypt)
  const known = await credentialsWithBastions(ctx, [id])
  const credential = known.get(id)
  if (!credential) throw new NotFound('The credential of the repository was deleted. Choose another one for the template.')
  const reason = repositoryBlockedReason(credential, url)
  if (reason) throw new Conflict(reason)
  await auditDecryption(ctx, credentialAudit.decrypt, withSecrets(known), { repository: url })
  return { ...(await openLogin(ctx, credential, known, readSecret)), hostKey: credential.hostKey }
}

/** Login at an API over HTTPS. The password is for the external authentication of a salt-api, or is the token for slurmrestd. */
export type ApiLogin = { credential: string; host: string; port: number; username: string; password: string }

/**
 * Returns the decrypted login of a credential of the kind.
 * @throws Forbidden when the caller is not a worker
 * @throws DomainError the credential is gone, or cannot be decrypted
 */
export async function openApiLogin(
  ctx: Ctx,
  id: string,
  kind: 'SALT' | 'SLURMRESTD',
  readSecret: ReadSecret = noStore,
): Promise<ApiLogin> {
  authorize(ctx, credentialPermissions.decrypt)
  const [api, detail] = kind === 'SALT' ? ['salt-api', 'saltApi'] : ['slurmrestd', 'slurmrestd']
  const known = await credentialsWithBastions(ctx, [id])
  const credential = known.get(id)
  if (credential?.kind !== kind)
    throw new NotFound(`The credential of ${api} was deleted. Choose another one in the settings of the cluster.`)
  await auditDecryption(ctx, credentialAudit.decrypt, withSecrets(known), { [detail!]: `${credential.host}:${credential.port}` })
  const { username, password = '' } = await openLogin(ctx, credential, known, readSecret)
  return { credential: credential.name, host: credential.host!, port: credential.port!, username, password }
}

/** Login at BMCs. `assertHost` throws Conflict for a host outside the allowed hosts of the credential; call it before each use. */
export type BmcLogin = { credential: string; username: string; password: string; assertHost: (host: string) => void }

/**
 * Returns the decrypted login of a credential of the kind BMC.
 * @throws Forbidden when the caller is not a worker
 * @throws DomainError the credential is gone, or cannot be decrypted
 */
export async function openBmcLogin(ctx: Ctx, id: string, readSecret: ReadSecret = noStore): Promise<BmcLogin> {
  authorize(ctx, credentialPermissions.decrypt)
  const known = await credentialsWithBastions(ctx, [id])
  const credential = known.get(id)
  if (credential?.kind !== 'BMC') throw new NotFound('The credential of the BMC was deleted. Choose another one.')
  await auditDecryption(ctx, credentialAudit.decrypt, withSecrets(known), { use: 'BMC' })
  const { username, password = '' } = await openLogin(ctx, credential, known, readSecret)
  return { credential: credential.name, username, password, assertHost: (host) => assertAllowedHost(credential, host) }
}

/** Version of the credential; null after its deletion. Callers that cache a login compare it before each use. */
export async function readCredentialVersion(ctx: Ctx, id: string): Promise<string | null> {
  authorize(ctx, credentialPermissions.decrypt)
  const scope = and(visibleTo(ctx, credentials), eq(credentials.id, id))
  const [found] = await ctx.db
    .select({ version: sql<string>`${credentials.updatedAt}::text` })
    .from(credentials)
    .where(scope)
  return found?.version ?? null
}

/** @throws Conflict a secret cannot be decrypted */
async function openLogin(
  ctx: Ctx,
  credential: Credential,
  known: Map<string, Credential>,
  readSecret: ReadSecret,
): Promise<Login> {
  try {
    return await loginOf(credential, credential.username ?? 'git', await opener(ctx, known, readSecret))
  } catch (error) {
    if (error instanceof DomainError) throw error
    ctx.log.error({ err: error, credential: credential.name }, 'cannot open a credential')
    throw new Conflict(`The credential ${credential.name} cannot be decrypted. Save its secrets again.`)
  }
}

async function loginOf(credential: Credential, username: string, open: Open): Promise<Login> {
  const login: Login = { username }
  const [privateKey, passphrase, password] = await Promise.all([
    open(credential, 'privateKey'),
    open(credential, 'passphrase'),
    open(credential, 'password'),
  ])
  if (privateKey !== undefined)
    login.privateKey = credential.secretRefs.privateKey ? storedKey(credential, privateKey, passphrase) : privateKey
  if (passphrase !== undefined) login.passphrase = passphrase
  if (password !== undefined) login.password = password
  return login
}

async function accessOf(
  { python, ...node }: LeanNode & Pick<NodeAccess, 'python'>,
  known: Map<string, Credential>,
  open: Open,
): Promise<NodeAccess> {
  const hops: Hop[] = []
  for (let id = node.bastionId; id; ) {
    const bastion = known.get(id)
    if (!bastion || hops.length >= MAX_HOPS)
      throw new Conflict(
        `The route to the node ${node.name} has more than ${MAX_HOPS} bastions or a missing one. Choose another bastion.`,
      )
    hops.unshift({
      credentialId: bastion.id,
      name: bastion.name,
      host: bastion.host!,
      port: bastion.port!,
      login: await loginOf(bastion, bastion.username!, open),
      hostKey: bastion.hostKey,
      offeredHostKey: bastion.offeredHostKey,
    })
    id = bastion.viaId
  }
  const raise = node.becomeCredentialId ? known.get(node.becomeCredentialId) : undefined
  if (raise) assertAllowedHost(raise, node.host)
  const become: NodeAccess['become'] = raise
    ? {
        method: raise.becomeMethod === 'su' ? 'su' : 'sudo',
        user: raise.username ?? 'root',
        password: (await open(raise, 'password')) ?? null,
      }
    : { method: 'sudo', user: 'root', password: null }
  if (node.connectionType === 'local') return { node, python, hops: [], login: { username: node.sshUser ?? 'root' }, become }
  const credential = node.credentialId ? known.get(node.credentialId) : undefined
  if (!credential) throw new Conflict(`The node ${node.name} has no credential. Assign an SSH key or a password.`)
  assertAllowedHost(credential, node.host)
  const username = node.sshUser ?? credential.username
  if (!username)
    throw new Conflict(`Neither the node ${node.name} nor its credential ${credential.name} has an SSH user. Set one of them.`)
  return { node, python, hops, login: await loginOf(credential, username, open), become }
}
