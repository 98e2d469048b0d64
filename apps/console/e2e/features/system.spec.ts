import { reencryptCredentials } from '@muster/core/credentials'
import { registerWorker } from '@muster/core/workers'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('drains and undrains a worker, and rotates the encryption key', async ({ page, createFleet, signIn, installation }) => {
  const {
    owner,
    system,
    worker: { actor },
    tenant,
  } = await createFleet({ nodes: 0 })
  const name = `worker-of-${tenant.name}`
  const facts = { host: 'worker', pid: 1, version: '0.1.0', ansibleVersion: '2.19.0', concurrency: 4 }
  await registerWorker(system, { name, ...facts })
  await signIn(owner)
  await page.goto('/settings/system')
  const dialog = page.getByRole('dialog')
  const worker = page.getByRole('listitem').filter({ hasText: name })
  await worker.getByRole('button', { name: t('workers.drainName', { name }) }).click()
  await expect(dialog.getByRole('heading', { name: t('workers.drainTitle', { name }) })).toBeVisible()
  await dialog.getByRole('button', { name: t('workers.drain') }).click()
  await expect(worker.getByText(owner.actor.name)).toBeVisible()
  await worker.getByRole('button', { name: t('workers.undrainName', { name }) }).click()
  await dialog.getByRole('button', { name: t('workers.undrain') }).click()
  await expect(worker.getByRole('button', { name: t('workers.drainName', { name }) })).toBeVisible()

  const key = page.getByRole('region', { name: t('encryptionKey.title') })
  const rotate = key.getByRole('button', { name: t('encryptionKey.rotate') })
  await rotate.click()
  await dialog.getByRole('button', { name: t('encryptionKey.rotate') }).click()
  await expect(key.getByText(t('encryptionKey.version', { version: '2' }), { exact: true })).toBeVisible()
  // The rotation is in progress until a worker has re-encrypted all secrets.
  await expect(rotate).toHaveAttribute('aria-disabled', 'true')
  await reencryptCredentials({ ...installation.runtime, actor })
  await expect(key.getByText(t('encryptionKey.done'))).toBeVisible()
  await expect(rotate).not.toHaveAttribute('aria-disabled', 'true')
})

test('shows workers and the encryption key to members, without their actions', async ({ page, createFleet, signIn }) => {
  const { viewer, system, tenant } = await createFleet({ nodes: 0 })
  const name = `worker-of-${tenant.name}`
  await registerWorker(system, { name, host: 'worker', pid: 1, version: '0.1.0', ansibleVersion: '2.19.0', concurrency: 4 })
  await signIn(viewer)
  await page.goto('/settings/system')
  await expect(page.getByText(/installation administrator \(permission system:check\)/)).toBeVisible()
  await expect(page.getByText(t('system.loadFailed'))).toBeHidden()
  const drain = page.getByRole('button', { name: t('workers.drainName', { name }) })
  await expect(drain).toHaveAttribute('aria-disabled', 'true')
  await drain.hover()
  await expect(page.getByRole('tooltip')).toContainText('worker:drain')
  await expect(page.getByRole('button', { name: t('encryptionKey.rotate') })).toHaveAttribute('aria-disabled', 'true')
})
