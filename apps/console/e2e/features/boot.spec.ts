import { assignBootProfile, createBootProfile } from '@muster/core/boot-profiles'
import { acceptByRules, recordBootFetches, reportUnknownMachines } from '@muster/core/boot-service'
import { SYSTEM } from '@muster/core/context'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('accepts an unknown machine as a node, and rejects another one', async ({ page, createFleet, signIn }) => {
  const { admin } = await createFleet({ nodes: 1 })
  const system = { ...admin, actor: SYSTEM }
  await signIn(admin)
  await page.goto('/boot/unknown-machines')
  await expect(page.getByRole('heading', { name: t('unknownMachine.emptyTitle') })).toBeVisible()
  const [first, second] = ['02:00:00:00:00:01', '02:00:00:00:00:02'] as const
  await reportUnknownMachines(system, [
    { mac: first, arch: 'x86_64', serial: 'S-1', address: '10.0.0.9' },
    { mac: second, address: null },
  ])
  await page.getByRole('button', { name: t('unknownMachine.acceptName', { mac: first }) }).click()
  const dialog = page.getByRole('dialog')
  const accept = dialog.getByRole('button', { name: t('unknownMachine.accept') })
  await dialog.getByLabel(t('unknownMachine.nodeName')).fill('not valid!')
  await accept.click()
  await expect(dialog.getByRole('alert')).toBeVisible()
  await dialog.getByLabel(t('unknownMachine.nodeName')).fill('cn1')
  await accept.click()
  await expect(dialog).toBeHidden()
  await page.getByRole('button', { name: t('unknownMachine.rejectName', { mac: second }) }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('unknownMachine.reject') })
    .click()
  await expect(page.getByRole('heading', { name: t('unknownMachine.emptyTitle') })).toBeVisible()
  await page.getByLabel(t('unknownMachine.state')).selectOption('ACCEPTED')
  await page.getByRole('link', { name: 'cn1' }).click()
  await expect(page.getByRole('heading', { name: 'cn1' })).toBeVisible()
})

test('creates a rule that accepts unknown machines, changes and deletes it', async ({ page, createFleet, signIn }) => {
  const { admin, system } = await createFleet({ nodes: 1 })
  await signIn(admin)
  await page.goto('/boot/unknown-machines')
  await page.getByRole('button', { name: t('bootRule.new') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('bootRule.name'), { exact: true }).fill('rack-a')
  await dialog.getByLabel(t('bootRule.names')).fill('cn[001-064]')
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(dialog.getByRole('alert')).toContainText('otherwise the rule accepts every machine')
  await dialog.getByLabel(t('bootRule.macPrefixes')).fill('02:00:5E')
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(dialog).toBeHidden()
  await expect(page.getByText('cn[001-064]')).toBeVisible()
  // As a worker does.
  await reportUnknownMachines({ ...admin, actor: SYSTEM }, [{ mac: '02:00:5e:00:00:07', address: null }])
  await acceptByRules(system)
  await page.getByLabel(t('unknownMachine.state')).selectOption('ACCEPTED')
  await expect(page.getByRole('link', { name: 'cn001' })).toBeVisible()
  await page.getByRole('button', { name: t('bootRule.editTitle', { name: 'rack-a' }) }).click()
  await dialog.getByLabel(t('bootRule.enabled')).uncheck()
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(page.getByText(t('bootRule.disabled'))).toBeVisible()
  await page.getByRole('button', { name: t('bootRule.deleteName', { name: 'rack-a' }) }).click()
  await dialog.getByRole('button', { name: t('bootRule.delete') }).click()
  await expect(page.getByText(t('bootRule.text'))).toBeVisible()
})

test('shows the stages of a boot, what the node fetched, and what it would receive', async ({ page, createFleet, signIn }) => {
  const { admin, nodes } = await createFleet({ nodes: 1 })
  const { id, name } = nodes[0]!
  const profile = await createBootProfile(admin, { name: 'compute', kernel: { url: 'http://192.0.2.1/vmlinuz' } })
  await assignBootProfile(admin, { profileId: profile.id, allNodes: true })
  await signIn(admin)
  await page.goto('/nodes')
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('tab', { name: t('node.tabBoot') }).click()
  await expect(page.getByRole('heading', { name: t('boot.emptyTitle') })).toBeVisible()
  const facts = { nodeId: id, nodeName: name, profile: 'compute', profileVersion: 1, address: '10.0.0.9' }
  const system = { ...admin, actor: SYSTEM }
  await recordBootFetches(system, [{ ...facts, kind: 'BOOT_SCRIPT', hash: 'a'.repeat(64), mac: '02:00:00:00:00:01' }])
  await recordBootFetches(system, [
    { ...facts, kind: 'USER_DATA', hash: 'b'.repeat(64), token: { reason: 'the connection has no TLS' } },
  ])
  await expect(page.getByRole('listitem').filter({ hasText: t('bootStage.CLOUD_INIT') })).toBeVisible()
  await expect(
    page.getByRole('row', { name: /user-data 1 .* bbbbbbbbbbbb compute v1 Not sent: the connection has no TLS 10\.0\.0\.9/ }),
  ).toBeVisible()
  await page.getByRole('button', { name: t('boot.showPreview') }).click()
  await expect(page.getByText('kernel --name kernel http://192.0.2.1/vmlinuz')).toBeVisible()
})
