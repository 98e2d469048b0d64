import { users } from '@muster/core/access'
import { eq } from 'drizzle-orm'
import { nodeName } from '../fixtures/scenes/fleet.ts'
import { expect, PASSWORD, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('asks visitors to sign in and returns to the page they opened', async ({ page }) => {
  await page.goto('/runs?status=FAILED')
  await expect(page).toHaveURL(/\/sign-in\?next=%2Fruns%3Fstatus%3DFAILED$/)
})

test('reports a list that failed to load, and loads it when the API is back', async ({
  page,
  installation,
  createFleet,
  signIn,
}) => {
  await signIn((await createFleet({ nodes: 1 })).operator)
  await page.goto('/runs')
  await expect(page.getByText(t('runs.emptyTitle'))).toBeVisible()
  installation.link.cut()
  await page
    .getByRole('link', { name: t('nav.nodes'), exact: true })
    .first()
    .click()
  await expect(page.getByText(t('nodes.loadFailed'))).toBeVisible()
  installation.link.restore()
  await page.getByRole('button', { name: t('common.retry') }).click()
  await expect(page.getByRole('link', { name: nodeName(0) })).toBeVisible()
})

test('waits for a network that drops packets, and shows the list when it recovers', async ({
  page,
  installation,
  createFleet,
  signIn,
}) => {
  await signIn((await createFleet({ nodes: 1 })).operator)
  await page.goto('/runs')
  await expect(page.getByText(t('runs.emptyTitle'))).toBeVisible()
  installation.link.stall()
  const request = page.waitForRequest((each) => each.postData()?.includes('query Nodes') ?? false)
  await page
    .getByRole('link', { name: t('nav.nodes'), exact: true })
    .first()
    .click()
  await request
  await expect(page.getByRole('heading', { name: t('nav.nodes') })).toBeVisible()
  await expect(page.getByRole('link', { name: nodeName(0) })).toBeHidden()
  await expect(page.getByText(t('nodes.loadFailed'))).toBeHidden()
  installation.link.restore()
  await expect(page.getByRole('link', { name: nodeName(0) })).toBeVisible()
})

test('changes the name and password in the account settings', async ({ page, createFleet, signIn }) => {
  const { operator } = await createFleet({ nodes: 1 })
  await signIn(operator)
  await page.goto('/nodes')
  await page.getByRole('button', { name: operator.actor.name }).click()
  await page.getByRole('menuitem', { name: t('account.edit') }).click()
  await expect(page.getByRole('heading', { name: t('nav.account') })).toBeVisible()
  const email = (await page.getByText(/^\S+@\S+$/).textContent())!
  const current = page
    .locator('form', { has: page.getByLabel(t('account.newPassword')) })
    .getByLabel(t('account.currentPassword'))
  const save = page.getByRole('button', { name: t('common.save') })
  await page.getByLabel(t('welcome.name')).fill('Grace Lee')
  await page.getByLabel(t('account.newPassword')).fill('another long password')
  await current.fill('a wrong password')
  await save.click()
  await expect(current).toHaveAttribute('aria-invalid', 'true')
  await current.fill(PASSWORD)
  await save.click()
  await page.getByRole('button', { name: 'Grace Lee' }).click()
  await page.getByRole('menuitem', { name: t('account.signOut') }).click()
  await expect(page).toHaveURL(/\/sign-in/)
  await page.getByLabel(t('signIn.email')).fill(email)
  await page.getByLabel(t('signIn.password'), { exact: true }).fill('another long password')
  await page.getByRole('button', { name: t('signIn.submit'), exact: true }).click()
  await expect(page.getByRole('button', { name: 'Grace Lee' })).toBeVisible()
})

test('truncates a very long user name in the sidebar and shows all of it in the menu', async ({ page, createFleet, signIn }) => {
  const { operator, system } = await createFleet({ nodes: 1 })
  const name = 'Ada Park of the Institute for Computational Chemistry'
  await system.db.update(users).set({ name }).where(eq(users.id, operator.actor.id!))
  await signIn(operator)
  await page.goto('/nodes')
  await page.getByRole('button', { name }).click()
  await expect(page.getByRole('menu').getByText(name)).toBeVisible()
  const overflow = await page.getByRole('complementary').evaluate((sidebar) => sidebar.scrollWidth - sidebar.clientWidth)
  expect(overflow, 'pixels by which the sidebar is too narrow').toBe(0)
})

test('applies the chosen theme before anything is painted', async ({ page, createFleet, signIn }) => {
  const { operator } = await createFleet({ nodes: 1 })
  await signIn(operator)
  await page.goto('/nodes')
  await page.getByRole('button', { name: operator.actor.name }).click()
  await page.getByRole('menuitemradio', { name: t('theme.dark'), exact: true }).click()
  await page.reload({ waitUntil: 'commit' })
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
})

test('supports keyboard shortcuts for help, search and navigation', async ({ page, createFleet, signIn }) => {
  await signIn((await createFleet({ nodes: 1 })).operator)
  await page.goto('/nodes')
  await expect(page.getByRole('link', { name: nodeName(0) })).toBeVisible()
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: t('help.title') })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await page.keyboard.press('/')
  await expect(page.getByLabel(t('nodes.search'))).toBeFocused()
  await page.keyboard.press('Escape')
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await expect(page).toHaveURL(/\/runs$/)
})
