import { createCredential } from '@muster/core/credentials'
import { schema } from '@muster/core/db'
import type { LabNode } from '@muster/lab'
import { given } from '@muster/lab/given'
import { eq } from 'drizzle-orm'
import { pinnedKey } from './access.ts'
import { isolationFor } from './isolation.ts'
import { type RunWorld, realAnsible, runWorld } from './run-world.ts'

export type LabWorld = RunWorld & { lab: Awaited<ReturnType<typeof given.lab>>; nodeIds: Map<string, string> }

type LoginKind = 'key' | 'locked key' | 'password'

/**
 * A lab of eight whose nodes are onboarded: reached by key, by a key with a passphrase and by password with a sudo password, two
 * of them behind a bastion. Runs are isolated as well as this machine can.
 */
export async function labWorld(): Promise<LabWorld> {
  const [lab, world] = await Promise.all([given.lab({ nodes: 8 }), runWorld({ ANSIBLE_PLAYBOOK: realAnsible() })])
  const { sshKey, sudoPassword, bastionKey } = lab.credentials
  if (!lab.bastion || !sudoPassword || !bastionKey)
    throw new Error(`a lab in mode ${lab.mode} has no bastion; run these tests as root`)
  const make = async (input: Parameters<typeof createCredential>[1]) => (await createCredential(world.admin, input)).id
  const logins: Record<LoginKind, string> = {
    key: await make({ name: 'key', kind: 'SSH_KEY', username: sshKey.username, privateKey: sshKey.privateKey }),
    'locked key': await make({
      name: 'locked key',
      kind: 'SSH_KEY',
      username: sshKey.username,
      privateKey: sshKey.encryptedPrivateKey,
      passphrase: sshKey.passphrase,
    }),
    password: await make({ name: 'password', kind: 'SSH_PASSWORD', ...sudoPassword }),
  }
  const become = await make({ name: 'become', kind: 'BECOME', password: sudoPassword.password })
  const { host, port } = lab.bastion
  const bastion = await make({
    name: 'bastion',
    kind: 'BASTION',
    host,
    port,
    username: bastionKey.username,
    privateKey: bastionKey.privateKey,
  })
  const { db } = world.runtime
  await db
    .update(schema.credentials)
    .set({ hostKey: pinnedKey(lab.bastion) })
    .where(eq(schema.credentials.id, bastion))
  const open = lab.nodes.filter((node) => !node.behindBastion)
  const kindOf = (node: LabNode): LoginKind => (node === open[1] ? 'password' : node === open[2] ? 'locked key' : 'key')
  const rows = await db
    .insert(schema.computeNodes)
    .values(
      lab.nodes.map((node) => ({
        tenantId: world.tenant.id,
        name: node.name,
        host: node.host,
        port: node.port,
        hostKey: pinnedKey(node),
        readyAt: new Date(),
        credentialId: logins[kindOf(node)],
        becomeCredentialId: kindOf(node) === 'password' ? become : null,
        bastionId: node.behindBastion ? bastion : null,
      })),
    )
    .returning()
  const isolation = await isolationFor(world.config, 'auto')
  return { ...world, isolation, lab, nodeIds: new Map(rows.map((row) => [row.name, row.id])) }
}
