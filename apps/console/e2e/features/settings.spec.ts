import { createHmac } from 'node:crypto'
import { members } from '@muster/core/access'
import { expect, PASSWORD, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

/** The code of an authenticator app (RFC 6238: SHA-1, 30 seconds, six digits) for a key in base 32. */
function codeOf(key: string): string {
  const bits = [...key.replace(/=+$/, '')].map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0'))
  const bytes = (bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const digest = createHmac('sha1', Buffer.from(bytes)).update(counter).digest()
  const offset = digest.at(-1)! & 0xf
  return String((digest.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0')
}

test('sets up an authenticator app, shows its recovery codes, and ends other sessions', async ({
  page,
  browser,
  createFleet,
  signIn,
  baseURL,
}) => {
  const { operator, tenant } = await createFleet({ nodes: 0 })
  await signIn(operator)
  const context = await browser.newContext({ baseURL: baseURL! })
  const other = await context.newPage()
  await other.goto('/sign-in')
  await other.getByLabel(t('signIn.email')).fill(`operator@${tenant.name}.test`)
  await other.getByLabel(t('signIn.password')).fill(PASSWORD)
  await other.getByRole('button', { name: t('signIn.submit'), exact: true }).click()
  await expect(other).toHaveURL(/\/nodes$/)

  await page.goto('/settings/account')
  await page.getByRole('button', { name: t('mfa.setUp') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('signIn.password')).fill(PASSWORD)
  await dialog.getByRole('button', { name: t('mfa.continue') }).click()
  await dialog
    .getByLabel(t('signIn.code'), { exact: true })
    .fill(codeOf((await dialog.getByTestId('totp-secret').textContent())!))
  await expect(dialog.getByText(t('mfa.recoveryText'))).toBeVisible()
  await dialog.getByRole('button', { name: t('mfa.turnOn') }).click()
  await expect(page.getByText(t('mfa.on'), { exact: true })).toBeVisible()

  await page.getByRole('button', { name: t('sessions.endOthers') }).click()
  await other.reload()
  await expect(other.getByRole('heading', { name: t('signIn.title') })).toBeVisible()
  await context.close()
})

test('switches to another tenant, whose objects are shown then', async ({ page, createFleet, signIn }) => {
  const [{ operator }, other] = [await createFleet({ nodes: 0 }), await createFleet({ nodes: 1 })]
  await other.system.db.insert(members).values({ tenantId: other.tenant.id, userId: operator.actor.id!, role: 'viewer' })
  await signIn(operator)
  await page.goto('/nodes')
  await expect(page.getByText(t('nodes.emptyTitle'))).toBeVisible()
  await page.getByRole('button', { name: operator.actor.name }).click()
  await page.getByRole('menuitem', { name: t('account.switchTo', { tenant: other.tenant.name }) }).click()
  await expect(page.getByText(other.nodes[0]!.name).first()).toBeVisible()
})

test('adds, edits and deletes an audit sink', async ({ page, createFleet, signIn }) => {
  const { owner } = await createFleet({ nodes: 0 })
  await signIn(owner)
  await page.goto('/settings/audit-sinks')
  await page.getByRole('button', { name: t('sinks.new') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('routes.name')).fill('siem')
  await dialog.getByLabel(t('routes.url')).fill('http://169.254.169.254/audit')
  await dialog.getByLabel(t('routes.secret')).fill('a secret of the receiver')
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(dialog.getByText('LOCAL_TARGETS')).toBeVisible()
  await dialog.getByLabel(t('routes.url')).fill('https://10.0.0.9/audit')
  await dialog.getByRole('button', { name: t('common.save') }).click()
  const row = page.getByRole('listitem').filter({ hasText: 'siem' })
  await expect(row.getByText('https://10.0.0.9')).toBeVisible()

  await row.getByRole('button', { name: t('routes.edit') }).click()
  await dialog.getByLabel(t('routes.enabled')).uncheck()
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(row.getByText(t('routes.off'))).toBeVisible()

  await row.getByRole('button', { name: t('routes.delete') }).click()
  await page
    .getByRole('alertdialog')
    .or(dialog)
    .getByRole('button', { name: t('routes.delete') })
    .click()
  await expect(page.getByText(t('sinks.emptyTitle'))).toBeVisible()
})
