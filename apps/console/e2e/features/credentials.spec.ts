import { createCredential, credentials } from '@muster/core/credentials'
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

test('creates, edits and deletes a secret store, and refuses to delete one in use', async ({ page, createFleet, signIn }) => {
  const { admin } = await createFleet({ nodes: 0 })
  await signIn(admin)
  await page.goto('/credentials')
  const dialog = page.getByRole('dialog')
  const add = page.getByRole('button', { name: t('secretStores.new') })
  const save = dialog.getByRole('button', { name: t('common.save') })
  const row = (name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) })

  await add.click()
  await dialog.getByLabel(t('credential.name'), { exact: true }).fill('vault')
  await dialog.getByLabel(t('secretStores.address')).fill('http://vault.example.org')
  await dialog.getByLabel(t('secretStores.authLabel')).selectOption('APP_ROLE')
  await dialog.getByLabel(t('secretStores.roleId')).fill('4ac1')
  await dialog.getByLabel(t('secretStores.secret.APP_ROLE')).fill('secret')
  await save.click()
  await expect(dialog.getByText('must begin with https://')).toBeVisible()
  await dialog.getByLabel(t('secretStores.address')).fill('https://vault.example.org:8200')
  await save.click()
  await expect(row('vault').getByText('https://vault.example.org:8200')).toBeVisible()

  await row('vault')
    .getByRole('button', { name: t('routes.edit') })
    .click()
  await dialog.getByLabel(t('secretStores.mount')).fill('kv')
  await save.click()
  await expect(row('vault').getByText(t('secretStores.mountOf', { mount: 'kv' }))).toBeVisible()
  await row('vault')
    .getByRole('button', { name: t('routes.edit') })
    .click()
  await dialog.getByLabel(t('secretStores.address')).fill('https://other.example.org')
  await expect(dialog.getByText(t('secretStores.reenter'))).toBeVisible()
  await save.click()
  await expect(dialog.getByText('is required again when the address or the authentication changes')).toBeVisible()
  await dialog.getByRole('button', { name: t('common.cancel') }).click()

  await add.click()
  await dialog.getByLabel(t('credential.name'), { exact: true }).fill('cloud')
  await dialog.getByLabel(t('credential.kind')).selectOption('AWS_SECRETS_MANAGER')
  await dialog.getByLabel(t('secretStores.region'), { exact: true }).fill('eu-central-1')
  await dialog.getByLabel(t('secretStores.accessKeyId'), { exact: true }).fill('AKIAIOSFODNN7EXAMPLE')
  await dialog.getByLabel(t('secretStores.secret.ACCESS_KEY')).fill('secret')
  await save.click()
  await expect(row('cloud').getByText('https://secretsmanager.eu-central-1.amazonaws.com')).toBeVisible()

  await page.getByRole('button', { name: t('credential.new'), exact: true }).click()
  await dialog.getByLabel(t('credential.name'), { exact: true }).fill('login')
  await dialog.getByLabel(t('credential.kind')).selectOption('SSH_PASSWORD')
  await dialog.getByLabel(t('credential.username'), { exact: true }).fill('ops')
  await dialog.getByLabel(t('credential.secretSource')).selectOption({ label: t('credential.inStore', { name: 'vault' }) })
  const location = dialog.getByLabel(t('credential.locationOf', { field: t('secret.PASSWORD') }))
  const saveCredential = dialog.getByRole('button', { name: t('credential.save') })
  await location.fill('login')
  await saveCredential.click()
  await expect(location).toHaveAttribute('aria-invalid', 'true')
  await location.fill('login#password')
  await saveCredential.click()
  await expect(
    page.getByText(t('credential.storedIn', { store: 'vault', names: `${t('secret.PASSWORD')} (login#password)` })),
  ).toBeVisible()
  const [login] = await admin.db.select().from(credentials).where(eq(credentials.name, 'login'))
  expect(login).toMatchObject({ secretRefs: { password: { path: 'login', key: 'password' } }, encrypted: {} })

  for (const name of ['cloud', 'vault']) {
    await row(name)
      .getByRole('button', { name: t('routes.delete') })
      .click()
    await dialog.getByRole('button', { name: t('routes.delete') }).click()
  }
  await expect(row('cloud')).toBeHidden()
  await expect(dialog.getByText('The secret store vault is used by login')).toBeVisible()
})
