import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import { OIDC } from '../fixtures/installation.ts'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('signs in and out through the OpenID Connect provider', async ({ browser, baseURL, createFleet, installation }) => {
  const { tenant } = await createFleet({ nodes: 0 })
  await installation.runtime.db.update(schema.tenants).set({ name: OIDC.tenant }).where(eq(schema.tenants.id, tenant.id))
  const ada = { name: 'Ada', email: 'ada@sso.test', email_verified: true }
  await installation.provider.setAccounts({
    ada: { ...ada, groups: [OIDC.group] },
    eve: { ...ada, email: 'eve@sso.test', groups: [] },
  })
  const context = await browser.newContext({ baseURL: baseURL! })
  const page = await context.newPage()
  const signInAs = async (login: string) => {
    await page.goto('/sign-in?next=/runs')
    await page.getByRole('button', { name: t('signIn.with', { name: OIDC.name }) }).click()
    await page.locator('input[name=login]').fill(login)
    await page.locator('input[name=password]').fill('any')
    await page.locator('button[type=submit]').click()
  }
  await signInAs('eve')
  await expect(page.getByRole('heading', { name: t('signIn.failed') })).toBeVisible()
  await expect(page.getByText('none of its groups has a role')).toBeVisible()
  await context.clearCookies()
  await signInAs('ada')
  await expect(page).toHaveURL(/\/runs$/)

  await page.goto('/settings/sign-in')
  await expect(page.getByText(t('signInMethods.kind.OIDC'))).toBeVisible()
  await page.getByRole('button', { name: 'Ada' }).click()
  await page.getByRole('menuitem', { name: t('account.signOut') }).click()
  await expect(page).toHaveURL(new RegExp(`^${installation.provider.issuer}/`))
  await context.close()
})
