import { generateKeyPairSync, randomBytes } from 'node:crypto'
import ssh2 from 'ssh2'
import { createTenant, members, type Role, type Tenant, users } from '../access/index.ts'
import type { Ctx, Runtime } from '../context.ts'
import { type Credential, type CredentialKind, createCredential } from '../credentials/index.ts'
import { accelerators, type ComputeNode, computeNodes } from '../nodes/index.ts'

/** A tenant and one caller of each role in it. `worker` reports, `system` reconciles. */
export type Cast = { tenant: Tenant } & Record<'owner' | 'admin' | 'operator' | 'viewer' | 'worker' | 'system', Ctx>

export type FleetOptions = {
  nodes?: number
  /** Names are prefix and number, from 1, padded to three digits: gpu001. */
  prefix?: string
  /** NVIDIA accelerators on each node. */
  accelerators?: number
  /** Columns that all nodes get, or what each gets by its place. */
  with?: Partial<typeof computeNodes.$inferInsert> | ((i: number) => Partial<typeof computeNodes.$inferInsert>)
}

export type Given = {
  tenant(name?: string): Promise<Cast>
  /** Nodes that are READY, with a pinned host key. */
  fleet(ctx: Ctx, options?: FleetOptions): Promise<ComputeNode[]>
  /** A credential of that kind, with secrets that look like real ones. */
  credential(ctx: Ctx, kind: CredentialKind, fields?: Partial<Parameters<typeof createCredential>[1]>): Promise<Credential>
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
    // One in some 400 keys that ssh2 makes is broken: no OpenSSH reads it either.
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

/** Factories that read as a story: `const { operator } = await given.tenant()`. */
export function storyOf(runtime: Runtime): Given {
  return {
    async tenant(name = unique('tenant')) {
      const tenant = await createTenant(runtime, { name })
      const roles = ['owner', 'admin', 'operator', 'viewer'] as const satisfies Role[]
      const people = await runtime.db
        .insert(users)
        .values(roles.map((role) => ({ name: `${role} of ${name}`, email: `${role}@${name}.test`, emailVerified: true })))
        .returning()
      await runtime.db.insert(members).values(roles.map((role, i) => ({ tenantId: tenant.id, userId: people[i]!.id, role })))
      const as = (role: Role): Ctx => {
        const person = people[roles.indexOf(role)]!
        return { ...runtime, tenantId: tenant.id, actor: { kind: 'user', id: person.id, name: person.name, role } }
      }
      return {
        tenant,
        owner: as('owner'),
        admin: as('admin'),
        operator: as('operator'),
        viewer: as('viewer'),
        worker: { ...runtime, tenantId: tenant.id, actor: { kind: 'worker', id: unique('worker'), name: 'worker' } },
        system: { ...runtime, tenantId: tenant.id, actor: { kind: 'system', id: null, name: 'Muster' } },
      }
    },

    async fleet(ctx, { nodes = 1, prefix = 'gpu', accelerators: perNode = 0, with: columns = {} } = {}) {
      const hostKey = makeHostKey()
      const rows: ComputeNode[] = []
      for (let from = 0; from < nodes; from += 1000) {
        const values = Array.from({ length: Math.min(1000, nodes - from) }, (_, j) => {
          const i = from + j
          return {
            tenantId: ctx.tenantId,
            name: `${prefix}${String(i + 1).padStart(3, '0')}`,
            host: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`,
            sshUser: 'ops',
            hostKey,
            hostKeyApprovedAt: new Date(),
            readyAt: new Date(),
            lastSeenAt: new Date(),
            ...(typeof columns === 'function' ? columns(i) : columns),
          }
        })
        rows.push(...(await runtime.db.insert(computeNodes).values(values).returning()))
      }
      const devices = rows.flatMap((node) => Array.from({ length: perNode }, (_, i) => deviceOf(ctx, node, i)))
      for (let from = 0; from < devices.length; from += 1000)
        await runtime.db.insert(accelerators).values(devices.slice(from, from + 1000))
      return rows
    },

    async credential(ctx, kind, fields = {}) {
      const base = { name: unique(kind.toLowerCase()), kind }
      const own = {
        SSH_KEY: () => ({ username: 'ops', privateKey: makePrivateKey() }),
        SSH_PASSWORD: () => ({ username: 'ops', password: 'correct horse' }),
        BASTION: () => ({ host: 'bastion.test', username: 'jump', password: 'correct horse' }),
        BECOME: () => ({ password: 'battery staple' }),
        GIT: () => ({ host: 'git.test', password: 'token of the depot' }),
      }[kind]()
      return createCredential(ctx, { ...base, ...own, ...fields })
    },
  }
}

function deviceOf(ctx: Ctx, node: ComputeNode, i: number): typeof accelerators.$inferInsert {
  const uuid = `GPU-${node.id}-${i}`
  return {
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
