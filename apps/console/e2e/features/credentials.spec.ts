import { createCredential } from '@muster/core/credentials'
import { computeNodes } from '@muster/core/nodes'
import { claimCredentialRotation, credentialRotationHosts, credentialRotations } from '@muster/core/rotations'
import { eq } from 'drizzle-orm'
import { nodeName } from '../fixtures/scenes/fleet.ts'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('rotates a credential: names its nodes, follows the progress, and completes without the failed node', async ({
  page,
  createFleet,
  signIn,
}) => {
  const { admin, system, nodes } = await createFleet({ nodes: 3, agents: false })
  const { db } = system
  const { id } = await createCredential(admin, { name: 'shared login', kind: 'SSH_PASSWORD', username: 'ops', password: 'first' })
  await db.update(computeNodes).set({ credentialId: id }).where(eq(computeNodes.tenantId, system.tenantId))
  await signIn(admin)
  await page.goto('/credentials')
  const item = page.getByRole('listitem').filter({ hasText: 'shared login' })
  await item.getByRole('button', { name: t('rotation.action'), exact: true }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText(t('rotation.nodes', { count: 3 }))).toBeVisible()
  await expect(dialog.locator('code')).toContainText(nodeName(0).replace(/\d+$/, ''))
  await dialog.getByRole('button', { name: t('rotation.start') }).click()
  await expect(dialog.getByText(t('rotation.status.RUNNING'))).toBeVisible()

  // The state that a worker leaves when one node fails.
  const [rotation] = await db.select().from(credentialRotations).where(eq(credentialRotations.credentialId, id))
  const hosts = await db.select().from(credentialRotationHosts).where(eq(credentialRotationHosts.rotationId, rotation!.id))
  await claimCredentialRotation(system, { id: rotation!.id, token: 'a worker' })
  for (const host of hosts)
    await db
      .update(credentialRotationHosts)
      .set(host.nodeId === nodes[1]!.id ? { error: 'The node is switched off.' } : { installedAt: new Date() })
      .where(eq(credentialRotationHosts.id, host.id))
  await db.update(credentialRotations).set({ pausedAt: new Date() }).where(eq(credentialRotations.id, rotation!.id))
  await expect(dialog.getByText(t('rotation.status.PAUSED'))).toBeVisible()
  await expect(dialog.getByText('The node is switched off.')).toBeVisible()
  await expect(dialog.getByRole('link', { name: nodes[1]!.name })).toBeVisible()
  await dialog.getByRole('button', { name: t('common.close') }).click()

  await item.getByRole('button', { name: t('rotation.unfinished', { status: t('rotation.status.PAUSED') }) }).click()
  await dialog.getByRole('button', { name: t('rotation.complete') }).click()
  await expect(dialog.getByText(t('rotation.status.RUNNING'))).toBeVisible()
  const [after] = await db.select().from(credentialRotations).where(eq(credentialRotations.id, rotation!.id))
  expect(after).toMatchObject({ pausedAt: null, completeRequestedAt: expect.any(Date) })
})
