import { createCredential } from '@muster/core/credentials'
import { schema } from '@muster/core/db'
import type { LabNode } from '@muster/lab'
import { given } from '@muster/lab/given'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pinnedKey } from '../testing/access.ts'
import { type RunWorld, realAnsible, runWorld } from '../testing/run-world.ts'

type Lab = Awaited<ReturnType<typeof given.lab>>
let lab: Lab
let world: RunWorld
const credentials: Record<string, string> = {}

async function addNode(node: LabNode, columns: Partial<typeof schema.computeNodes.$inferInsert>) {
  const [row] = await world.runtime.db
    .insert(schema.computeNodes)
    .values({
      tenantId: world.tenant.id,
      name: node.name,
      host: node.host,
      port: node.port,
      hostKey: pinnedKey(node),
      readyAt: new Date(),
      ...columns,
    })
    .returning()
  return row!
}

beforeAll(async () => {
  lab = await given.lab({ nodes: 8 })
  world = await runWorld({ ANSIBLE_PLAYBOOK: realAnsible() })
  const { sshKey, sudoPassword, bastionKey } = lab.credentials
  const make = async (name: string, fields: object) => {
    credentials[name] = (await createCredential(world.admin, { name, ...fields } as Parameters<typeof createCredential>[1])).id
  }
  await make('key', { kind: 'SSH_KEY', username: sshKey.username, privateKey: sshKey.privateKey })
  await make('locked', {
    kind: 'SSH_KEY',
    username: sshKey.username,
    privateKey: sshKey.encryptedPrivateKey,
    passphrase: sshKey.passphrase,
  })
  await make('password', { kind: 'SSH_PASSWORD', username: sudoPassword!.username, password: sudoPassword!.password })
  await make('become', { kind: 'BECOME', password: sudoPassword!.password })
  if (lab.bastion)
    await make('bastion', {
      kind: 'BASTION',
      host: lab.bastion.host,
      port: lab.bastion.port,
      username: bastionKey!.username,
      privateKey: bastionKey!.privateKey,
    })
  for (const [i, node] of lab.nodes.entries()) {
    await addNode(node, {
      credentialId: i === 1 ? credentials.password! : i === 2 ? credentials.locked! : credentials.key!,
      becomeCredentialId: i === 1 ? credentials.become! : null,
      bastionId: node.behindBastion ? credentials.bastion! : null,
    })
  }
  if (lab.bastion) {
    const { eq } = await import('drizzle-orm')
    await world.runtime.db
      .update(schema.credentials)
      .set({ hostKey: pinnedKey(lab.bastion) })
      .where(eq(schema.credentials.id, credentials.bastion!))
  }
}, 60_000)
afterAll(() => world.close())

test('first', { timeout: 60_000 }, async () => {
  const { done } = await world.start({ template: 'connectivity_check', limit: 'all', become: true })
  const told = await done
  console.log(
    told.log,
    told.run,
    told.hosts.map((h) => [h.name, h.result, h.message]),
  )
  expect(told.run.status).toBe('SUCCEEDED')
})
