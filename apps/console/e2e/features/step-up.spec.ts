import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import { expect, PASSWORD, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('asks for the password before a token is created, and then creates it', async ({
  page,
  signIn,
  createFleet,
  installation,
}) => {
  const { operator, tenant } = await createFleet({ nodes: 0 })
  const { db } = installation.runtime
  await db.update(schema.tenants).set({ stepUpMinutes: 15 }).where(eq(schema.tenants.id, tenant.id))
  await signIn(operator)
  const isOwn = eq(schema.sessions.userId, operator.actor.id!)
  await db
    .update(schema.sessions)
    .set({ authenticatedAt: new Date(Date.now() - 3_600_000) })
    .where(isOwn)
  await page.goto('/settings/tokens')
  await page
    .getByRole('button', { name: t('tokens.new') })
    .first()
    .click()
  const form = page.getByRole('dialog').first()
  await form.getByLabel(t('tokens.name')).fill('ci')
  await form.getByRole('button', { name: t('tokens.create') }).click()

  const question = page.getByRole('dialog', { name: t('stepUp.title') })
  await question.getByLabel(t('signIn.password')).fill('wrong password')
  await question.getByRole('button', { name: t('stepUp.confirm') }).click()
  await expect(question.getByText('is not your password')).toBeVisible()
  await question.getByLabel(t('signIn.password')).fill(PASSWORD)
  await question.getByRole('button', { name: t('stepUp.confirm') }).click()
  await expect(question).toBeHidden()
  // The form continued by itself.
  await expect(page.getByText(/mst_/).first()).toBeVisible()
})
