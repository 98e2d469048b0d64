import { schema } from '@muster/core/registry'
import type { Page } from '@playwright/test'
import { eq } from 'drizzle-orm'
import { expect, PASSWORD, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

/** Gives the page an authenticator with a fingerprint reader, as a laptop has. */
async function plugInAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    verifiesUser: (isUserVerified: boolean) => devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  }
}

test('adds a passkey, signs in with it, renames and removes it', async ({ page, signIn, createFleet, installation }) => {
  const { operator } = await createFleet({ nodes: 0 })
  await signIn(operator)
  const authenticator = await plugInAuthenticator(page)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = page.getByRole('dialog')
  await page.goto('/settings/account')
  await button(t('passkeys.add')).click()
  await dialog.getByLabel(t('passkeys.name')).fill('Laptop')
  await dialog.getByLabel(t('account.currentPassword')).fill('wrong password')
  await dialog.getByRole('button', { name: t('mfa.continue') }).click()
  await expect(dialog.getByText('is not the current password')).toBeVisible()
  await dialog.getByLabel(t('account.currentPassword')).fill(PASSWORD)
  await dialog.getByRole('button', { name: t('mfa.continue') }).click()
  await expect(page.getByText(t('passkeys.added'))).toBeVisible()
  await expect(page.getByText('Laptop')).toBeVisible()

  await page.context().clearCookies()
  await page.goto('/sign-in?next=/settings/account')
  await authenticator.verifiesUser(false)
  await button(t('signIn.withPasskey')).click()
  await expect(page.getByText(t('passkeys.canceled'))).toBeVisible()
  await authenticator.verifiesUser(true)
  await button(t('signIn.withPasskey')).click()
  await expect(button(t('passkeys.rename'))).toBeVisible()
  const [passkey] = await installation.runtime.db
    .select()
    .from(schema.passkeys)
    .where(eq(schema.passkeys.userId, operator.actor.id!))
  expect(passkey).toMatchObject({ name: 'Laptop', lastUsedAt: expect.any(Date) })

  await button(t('passkeys.rename')).click()
  await dialog.getByLabel(t('passkeys.name')).fill('Work laptop')
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(page.getByText('Work laptop')).toBeVisible()
  // Without the password, the passkey is the last way to sign in.
  await button(t('identity.removePassword')).click()
  await dialog.getByLabel(t('account.currentPassword')).fill(PASSWORD)
  await dialog.getByRole('button', { name: t('identity.removePassword') }).click()
  await expect(page.getByText(t('identity.passwordRemoved'))).toBeVisible()
  await expect(button(t('passkeys.remove'))).toHaveAttribute('aria-disabled', 'true')
})
