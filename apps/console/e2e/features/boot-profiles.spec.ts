import { assignBootProfile, createBootProfile, updateBootProfile } from '@muster/core/boot-profiles'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('creates a profile that inherits, changes it, restores a version, and assigns it', async ({ page, createFleet, signIn }) => {
  const { admin, nodes } = await createFleet({ nodes: 2 })
  await createBootProfile(admin, { name: 'base', kernelParams: ['quiet'], adminUser: 'ops' })
  const group = await createNodeGroup(admin, { name: 'racks' })
  await setNodeGroupMembers(admin, { id: group.id, addNodeIds: [nodes[0]!.id] })
  await signIn(admin)
  await page.goto('/boot/profiles')
  await page.getByRole('link', { name: t('bootProfile.new') }).click()
  const save = page.getByRole('button', { name: t('common.save'), exact: true })
  await page.getByLabel(t('bootProfile.name'), { exact: true }).fill('compute')
  await page.getByLabel(t('bootField.parent'), { exact: true }).selectOption('base')
  const params = page.getByLabel(t('bootField.kernelParams'))
  await expect(params).toHaveAttribute('placeholder', 'quiet')
  await page.getByLabel(t('bootField.kernel'), { exact: true }).fill('ftp://10.0.0.1/vmlinuz')
  await save.click()
  await expect(page.getByText('must be an http, https, tftp or nfs URL')).toBeVisible()
  await page.getByLabel(t('bootField.kernel'), { exact: true }).fill('http://10.0.0.1/vmlinuz')
  await save.click()

  await expect(page.getByRole('heading', { name: 'compute' })).toBeVisible()
  await params.fill('quiet\nconsole=ttyS0')
  await save.click()
  await expect(page.getByText(t('bootProfile.version', { number: '2' }))).toBeVisible()
  await page.getByRole('tab', { name: t('bootProfile.result') }).click()
  await expect(page.getByText(t('bootProfile.replacedFrom', { name: 'base' }))).toBeVisible()
  await expect(page.getByText(t('bootProfile.from', { name: 'base' }), { exact: true })).toBeVisible()

  await page.getByRole('tab', { name: t('bootProfile.history') }).click()
  await page
    .getByTestId('boot-version-1')
    .getByRole('button', { name: t('bootProfile.restore') })
    .click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('bootProfile.restore') })
    .click()
  const newest = page.getByTestId('boot-version-3')
  await newest.getByText(t('bootProfile.changes', { count: 1 })).click()
  await expect(newest).toContainText('console=ttyS0')

  await page.getByRole('tab', { name: t('bootProfile.assignments') }).click()
  await page.getByRole('button', { name: t('bootProfile.assign') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: t('nav.nodes') }).fill(nodes[1]!.name)
  await dialog.getByRole('checkbox', { name: 'racks' }).check()
  await dialog.getByRole('button', { name: t('bootProfile.assign'), exact: true }).click()
  const list = page.getByRole('list', { name: t('bootProfile.assignments') })
  await expect(list.getByRole('listitem')).toHaveCount(2)
  await expect(page.getByRole('button', { name: t('bootProfile.delete') })).toHaveAttribute('aria-disabled', 'true')

  // The node itself wins over its group.
  const own = await createBootProfile(admin, { name: 'own', kernel: { url: 'http://10.0.0.1/own' } })
  await assignBootProfile(admin, { profileId: own.id, nodeIds: [nodes[0]!.id] })
  await page.goto('/nodes')
  await page.getByRole('link', { name: nodes[0]!.name, exact: true }).click()
  const panel = page.locator('section').filter({ has: page.getByRole('heading', { name: t('bootProfile.one'), exact: true }) })
  await expect(panel.getByRole('link', { name: 'own' })).toBeVisible()
  await panel.getByText(t('bootProfile.lost', { count: 1 })).click()
  await expect(panel).toContainText('own is assigned to the node itself, which comes first.')
})

test('keeps what was typed when somebody else saves a version, and does not overwrite it', async ({
  page,
  createFleet,
  signIn,
}) => {
  const { admin } = await createFleet({ nodes: 0 })
  const profile = await createBootProfile(admin, { name: 'compute', kernel: { url: 'http://10.0.0.1/a' } })
  await signIn(admin)
  await page.goto('/boot/profiles/compute')
  const user = page.getByLabel(t('bootField.adminUser'))
  await user.fill('me')
  await updateBootProfile(admin, { id: profile.id, version: 1, adminUser: 'them' })
  await page.getByRole('button', { name: t('common.save'), exact: true }).click()
  await expect(page.getByText('changed the boot profile compute meanwhile')).toBeVisible()
  await expect(user).toHaveValue('me')
  await page.getByRole('button', { name: t('bootProfile.loadNewest') }).click()
  await expect(user).toHaveValue('them')
})

test('searches and offers all profiles, not only those of the first page', async ({ page, createFleet, signIn }) => {
  const { admin } = await createFleet({ nodes: 0 })
  for (let i = 0; i < 130; i++) await createBootProfile(admin, { name: `rack-${String(i).padStart(3, '0')}` })
  await signIn(admin)
  await page.goto('/boot/profiles')
  await page.getByRole('searchbox').fill('rack-129')
  await page.getByRole('link', { name: 'rack-129' }).click()
  await page.getByLabel(t('bootField.parent'), { exact: true }).selectOption('rack-128')
})
