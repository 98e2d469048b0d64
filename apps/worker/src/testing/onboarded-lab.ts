import { createCredential } from '@muster/core/credentials'
import { schema } from '@muster/core/registry'
import type { LabNode } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { eq } from 'drizzle-orm'
import { createIsolation } from './isolation.ts'
import { pinnedKey } from './node-access.ts'
import { createRunFixture, type RunFixture, realAnsible } from './run-fixture.ts'

export type OnboardedLab = RunFixture & { lab: Awaited<ReturnType<typeof createLab>>; nodeIds: Map<string, string> }

type LoginKind = 'key' | 'locked key' | 'password'

/**
 * A lab of eight onboarded nodes: login by key, by key with passphrase, and by password with a sudo password; two nodes are behind a
 * bastion. Runs use the best isolation of this machine.
 */
export async function createOnboardedLab(): Promise<OnboardedLab> {
  const [lab, fixture] = await Promise.all([createLab({ nodes: 8 }), createRunFixture({ ANSIBLE_PLAYBOOK: realAnsible() })])
  const { sshKey, sudoPassword, bastionKey } = lab.credentials
  if (!lab.bastion || !sudoPassword || !bastionKey)
    throw new Error(`a lab in mode ${lab.mode} has no bastion; run these tests as root`)
  const make = async (input: Parameters<typeof createCredential>[1]) => (await createCredential(fixture.admin, input)).id
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
  const { db } = fixture.runtime
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
        tenantId: fixture.tenant.id,
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
  const isolation = await createIsolation(fixture.config, 'auto')
  return { ...fixture, isolation, lab, nodeIds: new Map(rows.map((row) => [row.name, row.id])) }
}
