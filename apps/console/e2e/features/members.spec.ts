import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

const PASSWORD = 'a long enough password'

test('invites a person, who accepts with the link, is suspended and removed', async ({
  page,
  browser,
  createFleet,
  signIn,
  baseURL,
}) => {
  const { admin, tenant } = await createFleet({ nodes: 0 })
  const email = `ada@${tenant.name}.test`
  await signIn(admin)
  await page.goto('/settings/members')
  await page.getByRole('button', { name: t('members.invite') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('signIn.email')).fill(email)
  await dialog.getByRole('button', { name: t('members.invite') }).click()
  const link = (await dialog.getByTestId('invitation-link').textContent())!
  await dialog.getByRole('button', { name: t('tokens.createdDone') }).click()
  await expect(page.getByRole('listitem').filter({ hasText: email })).toBeVisible()

  const context = await browser.newContext({ baseURL: baseURL! })
  const invited = await context.newPage()
  const { pathname, hash } = new URL(link)
  const urls: string[] = []
  invited.on('request', (request) => urls.push(request.url()))
  await invited.goto(`${pathname}${hash}`)
  await expect(invited.getByRole('heading', { name: t('invitation.title', { tenant: tenant.name }) })).toBeVisible()
  await invited.getByLabel(t('welcome.name')).fill('Ada')
  await invited.getByLabel(t('signIn.password')).fill(PASSWORD)
  await invited.getByRole('button', { name: t('invitation.accept') }).click()
  await expect(invited).toHaveURL(/\/nodes$/)
  // The secret of the link is in no address that a server could log.
  expect(urls.filter((url) => url.split('#')[0]!.includes(hash.slice('#token='.length)))).toEqual([])
  await invited.goto(`${pathname}${hash}`)
  await expect(invited.getByRole('heading', { name: t('invitation.invalid') })).toBeVisible()

  await page.reload()
  const row = page.getByRole('listitem').filter({ hasText: email })
  const choose = async (action: string) => {
    await row.getByRole('button', { name: t('members.actions', { name: 'Ada' }) }).click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
  }
  await choose(t('members.suspend'))
  await dialog.getByRole('button', { name: t('members.suspend') }).click()
  await expect(row.getByText(t('members.suspended'))).toBeVisible()
  await invited.goto('/nodes')
  await expect(invited).toHaveURL(/\/sign-in/)
  await choose(t('members.remove'))
  await dialog.getByRole('button', { name: t('members.remove') }).click()
  await expect(row).toBeHidden()
  await context.close()
})

test('creates a service account and a token for it', async ({ page, createFleet, signIn }) => {
  const { admin } = await createFleet({ nodes: 0 })
  await signIn(admin)
  await page.goto('/settings/members')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: t('serviceAccounts.new') }).click()
  const create = dialog.getByRole('button', { name: t('serviceAccounts.create') })
  await expect(create).toHaveAccessibleDescription(t('tokens.needName'))
  await dialog.getByLabel(t('tokens.name'), { exact: true }).fill('backup job')
  await expect(dialog.getByRole('option', { name: t('role.owner') })).toBeDisabled()
  await create.click()
  const member = page.getByRole('listitem').filter({ hasText: 'backup job' })
  await expect(member.getByText(t('members.serviceAccount'))).toBeVisible()

  await page.goto('/settings/tokens')
  await page
    .getByRole('button', { name: t('tokens.new') })
    .first()
    .click()
  await dialog.getByLabel(t('tokens.name'), { exact: true }).fill('nightly')
  await dialog.getByLabel(t('tokens.owner')).selectOption('backup job')
  await dialog.getByRole('button', { name: t('tokens.create') }).click()
  await dialog.getByRole('button', { name: t('tokens.createdDone') }).click()
  const token = page.getByRole('listitem').filter({ hasText: 'nightly' })
  await expect(token.getByText(t('tokens.ownedBy', { name: 'backup job' }))).toBeVisible()
})

test('shows why a viewer may not change members', async ({ page, createFleet, signIn }) => {
  const { viewer, tenant } = await createFleet({ nodes: 0 })
  await signIn(viewer)
  await page.goto('/settings/members')
  await expect(page.getByText(`owner of ${tenant.name}`)).toBeVisible()
  await expect(page.getByRole('button', { name: t('members.invite') })).toBeHidden()
})

test('asks for a password reset, and says when the installation sends no email', async ({ page }) => {
  await page.goto('/sign-in')
  await page.getByRole('link', { name: t('signIn.forgot') }).click()
  // The form loses what was entered before the page is interactive.
  await expect(async () => {
    await page.getByLabel(t('signIn.email')).fill('ada@site.test')
    await page.getByRole('button', { name: t('reset.send') }).click()
    await expect(page.getByText(/bin\/muster-admin reset-owner/)).toBeVisible({ timeout: 2000 })
  }).toPass()
})

test('an installation administrator creates a tenant, limits its runs, suspends, resumes and deletes it', async ({
  page,
  createFleet,
  signIn,
}) => {
  const { owner, tenant } = await createFleet({ nodes: 0 })
  const name = `team of ${tenant.name}`
  await signIn(owner)
  await page.goto('/settings/tenants')
  const row = (text: string) => page.getByRole('listitem').filter({ has: page.getByText(text, { exact: true }) })
  const dialog = page.getByRole('dialog')
  await expect(row(tenant.name).getByRole('button', { name: t('tenants.suspend') })).toHaveAttribute('aria-disabled', 'true')
  await page.getByRole('button', { name: t('tenants.new') }).click()
  await dialog.getByLabel(t('tenants.name')).fill(name)
  await dialog.getByRole('button', { name: t('tenants.create') }).click()
  await row(name)
    .getByRole('button', { name: t('tenants.editName', { name }) })
    .click()
  await dialog.getByLabel(t('tenants.maxRuns')).fill('7')
  await dialog.getByRole('button', { name: t('tenants.save') }).click()
  await expect(row(name).getByText(t('tenants.runsOf', { count: '0', quota: 7 }))).toBeVisible()
  await row(name)
    .getByRole('button', { name: t('tenants.suspend') })
    .click()
  await dialog.getByRole('textbox').fill(name)
  await dialog.getByRole('button', { name: t('tenants.suspend') }).click()
  await expect(row(name).getByText(t('tenants.suspended', { name: owner.actor.name }))).toBeVisible()
  await row(name)
    .getByRole('button', { name: t('tenants.resume') })
    .click()
  await row(name)
    .getByRole('button', { name: t('tenants.suspend') })
    .click()
  await dialog.getByRole('textbox').fill(name)
  await dialog.getByRole('button', { name: t('tenants.suspend') }).click()
  await row(name)
    .getByRole('button', { name: t('tenants.delete') })
    .click()
  await dialog.getByRole('textbox').fill(name)
  await dialog.getByRole('button', { name: t('tenants.delete') }).click()
  await expect(row(name).getByText(t('tenants.deleting', { name: owner.actor.name }))).toBeVisible()
})

test('an installation administrator appoints and dismisses another', async ({ page, createFleet, signIn }) => {
  const { owner, tenant, viewer } = await createFleet({ nodes: 0 })
  await signIn(owner)
  await page.goto('/settings/tenants')
  const dialog = page.getByRole('dialog')
  const admin = page.getByRole('listitem').filter({ has: page.getByText(viewer.actor.name, { exact: true }) })
  const appoint = async (email: string) => {
    await dialog.getByLabel(t('installationAdmins.email')).fill(email)
    await dialog.getByRole('button', { name: t('installationAdmins.appointAction') }).click()
  }
  await page.getByRole('button', { name: t('installationAdmins.appoint') }).click()
  await appoint('nobody@muster.test')
  await expect(dialog.getByText('There is no user with the email address nobody@muster.test')).toBeVisible()
  await appoint(`viewer@${tenant.name}.test`)
  await admin.getByRole('button', { name: t('installationAdmins.dismiss') }).click()
  await dialog.getByRole('button', { name: t('installationAdmins.dismiss') }).click()
  await expect(admin).toBeHidden()
})

test('shows tenants only to installation administrators', async ({ page, createFleet, signIn }) => {
  await signIn((await createFleet({ nodes: 0 })).admin)
  await page.goto('/settings/tenants')
  await expect(page.getByText(/installation administrator/)).toBeVisible()
  await expect(page.getByRole('navigation', { name: t('nav.settings') }).getByText(t('tenants.title'))).toBeHidden()
})
