import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { and, eq, gte } from 'drizzle-orm'
import ssh2 from 'ssh2'
import { createTenant, members, users } from '../access/index.ts'
import type { Tenant } from '../access/tables.ts'
import { createCredential } from '../credentials/index.ts'
import type { Credential, CredentialKind } from '../credentials/tables.ts'
import { SYSTEM, tenantCtx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { actorRole, type BuiltInRole } from '../kernel/permissions.ts'
import { accelerators, computeNodes } from '../nodes/index.ts'
import type { ComputeNode } from '../nodes/tables.ts'
import type { Ctx as AnyCtx, Runtime, SystemCtx } from '../registry.ts'
import { acceleratorRows, hardwareOf } from './hardware.ts'
import { insertMany } from './insert-many.ts'

type Ctx = AnyCtx & Pick<Runtime, 'db'>

/**
 * A tenant and one caller of each role in it. `installationAdmin` is the owner with the permissions of the installation; `worker` reports
 * results, `system` reconciles.
 */
export type TenantFixture = { tenant: Tenant } & Record<
  'owner' | 'installationAdmin' | 'admin' | 'operator' | 'viewer' | 'worker' | 'system',
  Ctx
>

export type FleetOptions = {
  nodes?: number
  /** Names are prefix and number, from 1, padded to three digits: gpu001. */
  prefix?: string
  /** NVIDIA accelerators on each node. */
  accelerators?: number
  /** System facts, and accelerators of each vendor in turn, at most `limit` on a node; every sixth node has none. */
  hardware?: { limit?: number }
  /** Columns of all nodes, or of each by its place. */
  with?: Partial<typeof computeNodes.$inferInsert> | ((i: number) => Partial<typeof computeNodes.$inferInsert>)
}

export type Factories = {
  tenant(name?: string): Promise<TenantFixture>
  /** Nodes that are READY, with a pinned host key. */
  fleet(ctx: AnyCtx, options?: FleetOptions): Promise<ComputeNode[]>
  /** A credential of that kind with valid secrets. */
  credential(ctx: AnyCtx, kind: CredentialKind, fields?: Partial<Parameters<typeof createCredential>[1]>): Promise<Credential>
}

let count = 0
const unique = (what: string) => `${what}-${++count}-${randomBytes(3).toString('hex')}`

type KeyType = 'ed25519' | 'ecdsa' | 'rsa'
const BITS = { ed25519: {}, ecdsa: { bits: 384 }, rsa: { bits: 2048 } }

/** A fresh key pair in OpenSSH form. @param passphrase encrypts the private half */
export function makeKeyPair(type: KeyType = 'ed25519', passphrase?: string): { private: string; public: string } {
  const options = { ...BITS[type], comment: 'for tests', ...(passphrase ? { passphrase, cipher: 'aes256-ctr', rounds: 16 } : {}) }
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync(type as 'ed25519', options)
    // About one key in 400 that ssh2 generates is malformed; OpenSSH rejects it too.
    if (!(ssh2.utils.parseKey(pair.private, passphrase) instanceof Error)) return pair
  }
}

/** A fresh ed25519 private key in OpenSSH form. */
export const makePrivateKey = (passphrase?: string): string => makeKeyPair('ed25519', passphrase).private

/** A host key as sshd offers it, `type base64`. */
export function makeHostKey(): string {
  const raw = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
  return `ssh-ed25519 ${Buffer.concat([field(Buffer.from('ssh-ed25519')), field(raw)]).toString('base64')}`
}

/** Factories for tests: `const { operator } = await given.tenant()`. */
export function createFactories(runtime: Runtime & SystemCtx): Factories {
  return {
    async tenant(name = unique('tenant')) {
      const tenant = await createTenant(runtime, { name })
      const roles = ['owner', 'admin', 'operator', 'viewer'] as const satisfies BuiltInRole[]
      const people = await runtime.db
        .insert(users)
        .values(
          roles.map((role) => ({
            name: `${role} of ${name}`,
            email: `${role}@${name}.test`,
            emailVerified: true,
            isInstallationAdmin: role === 'owner',
          })),
        )
        .returning()
      await runtime.db.insert(members).values(roles.map((role, i) => ({ tenantId: tenant.id, userId: people[i]!.id, role })))
      const as = (role: BuiltInRole): Ctx => {
        const person = people[roles.indexOf(role)]!
        return tenantCtx(runtime, tenant.id, { kind: 'user', id: person.id, name: person.name, ...actorRole(role) })
      }
      return {
        tenant,
        installationAdmin: tenantCtx(runtime, tenant.id, {
          kind: 'user',
          id: people[0]!.id,
          name: people[0]!.name,
          ...actorRole('owner', true),
        }),
        owner: as('owner'),
        admin: as('admin'),
        operator: as('operator'),
        viewer: as('viewer'),
        worker: tenantCtx(runtime, tenant.id, { kind: 'worker', id: unique('worker'), name: 'worker' }),
        system: tenantCtx(runtime, tenant.id, SYSTEM),
      }
    },

    async fleet(ctx, { nodes = 1, prefix = 'gpu', accelerators: perNode = 0, hardware, with: columns = {} } = {}) {
      const hostKey = makeHostKey()
      const rows = Array.from({ length: nodes }, (_, i) => ({
        id: newId(),
        tenantId: ctx.tenantId,
        name: `${prefix}${String(i + 1).padStart(3, '0')}`,
        host: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`,
        sshUser: 'ops',
        hostKey,
        hostKeyApprovedAt: new Date(),
        readyAt: new Date(),
        lastSeenAt: new Date(),
        ...(hardware ? hardwareOf(i) : {}),
        ...(typeof columns === 'function' ? columns(i) : columns),
      }))
      await insertMany(runtime.db, computeNodes, rows)
      const devices = rows.flatMap((node, i) =>
        hardware
          ? acceleratorRows(node, i, hardware.limit)
          : Array.from({ length: perNode }, (_, index) => deviceOf(ctx, node, index)),
      )
      await insertMany(runtime.db, accelerators, devices)
      const inserted = await runtime.db
        .select()
        .from(computeNodes)
        .where(and(eq(computeNodes.tenantId, ctx.tenantId), gte(computeNodes.id, rows[0]?.id ?? newId())))
        .orderBy(computeNodes.id)
      return inserted
    },

    async credential(ctx, kind, fields = {}) {
      const base = { name: unique(kind.toLowerCase()), kind }
      const own = {
        SSH_KEY: () => ({ username: 'ops', privateKey: makePrivateKey() }),
        SSH_PASSWORD: () => ({ username: 'ops', password: 'correct horse' }),
        BASTION: () => ({ host: 'bastion.test', username: 'jump', password: 'correct horse' }),
        BECOME: () => ({ password: 'battery staple' }),
        SALT: () => ({ host: 'salt.test', username: 'muster', password: 'correct horse' }),
        SLURMRESTD: () => ({ host: 'slurmrestd.test', username: 'muster', password: 'token of Slurm' }),
        BMC: () => ({ username: 'admin', password: 'password of BMCs' }),
        GIT: () => ({ host: 'git.test', password: 'token of the repository' }),
      }[kind]()
      return createCredential(ctx, { ...base, ...own, ...fields })
    },
  }
}

function deviceOf(ctx: AnyCtx, node: Pick<ComputeNode, 'id'>, i: number): typeof accelerators.$inferInsert {
  const uuid = `GPU-${node.id}-${i}`
  return {
    id: newId(),
    tenantId: ctx.tenantId,
    nodeId: node.id,
    identity: `uuid:${uuid}`,
    deviceType: 'nvidia_gpu',
    vendor: 'nvidia',
    model: 'NVIDIA H100 80GB HBM3',
    index: i,
    uuid,
    pciAddress: `0000:${(0x10 + i).toString(16)}:00.0`,
    memoryTotal: 85_520_809_984,
    driverVersion: '570.133.20',
    health: 'ok',
    source: 'tool',
  }
}
