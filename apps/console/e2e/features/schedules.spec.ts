import { createHmac } from 'node:crypto'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('creates a schedule with a blackout, starts it, changes and disables it', async ({ page, createFleet, signIn }) => {
  const { operator } = await createFleet({ nodes: 2 })
  await signIn(operator)
  await page.goto('/runs/new?limit=all')
  await page.getByRole('link', { name: t('runs.schedule') }).click()
  await page.getByLabel(t('schedule.name'), { exact: true }).fill('nightly')
  await page.getByLabel(t('runs.template'), { exact: true }).selectOption('connectivity_check')
  await page.getByLabel(t('schedule.rule'), { exact: true }).fill('0 3 * *')
  await expect(page.getByText(/must be a cron expression/)).toBeVisible()
  await page.getByRole('button', { name: t('schedule.weekly'), exact: true }).click()
  await page.getByLabel(t('schedule.timeZone'), { exact: true }).fill('Europe/Berlin')
  const times = page.getByRole('list', { name: t('schedule.nextTimes') })
  await expect(times.getByRole('listitem')).toHaveCount(10)
  await expect(page.getByText('At 03:00, only on Sunday')).toBeVisible()
  await page.getByRole('button', { name: t('schedule.addBlackout') }).click()
  await page.getByLabel(t('schedule.blackoutName'), { exact: true }).fill('weekend')
  await page.getByLabel(t('schedule.blackoutMinutes'), { exact: true }).fill('3600')
  await expect(times.getByText('weekend')).toHaveCount(10)
  await page.getByRole('button', { name: t('common.save'), exact: true }).click()

  await expect(page.getByRole('heading', { name: 'nightly' })).toBeVisible()
  await page.getByRole('button', { name: t('schedule.runNow') }).click()
  await expect(page).toHaveURL(/\/runs\//)
  await page.goBack()
  const history = page.getByRole('list', { name: t('schedule.history') })
  await expect(history.getByRole('listitem')).toHaveCount(1)
  await page.getByRole('button', { name: t('schedule.runNow') }).click()
  await expect(page.getByText(/has not ended. Cancel it/)).toBeVisible()

  await page.getByRole('tab', { name: t('schedule.edit') }).click()
  await page.getByLabel(t('schedule.rule'), { exact: true }).fill('0 4 * * *')
  await page.getByRole('button', { name: t('common.save'), exact: true }).click()
  await page.getByRole('tab', { name: t('schedule.overview') }).click()
  await expect(page.getByText('At 04:00')).toBeVisible()
  await page.getByRole('button', { name: t('schedule.disable'), exact: true }).click()
  await expect(page.getByText(t('schedule.disabledText'))).toBeVisible()
})

test('creates a trigger, shows its secret once, and lists a signed request', async ({ page, createFleet, signIn, request }) => {
  const { operator } = await createFleet({ nodes: 2 })
  await signIn(operator)
  await page.goto('/schedules?tab=triggers')
  await page
    .getByRole('button', { name: t('trigger.new') })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('schedule.name'), { exact: true }).fill('deploy')
  await dialog.getByLabel(t('runs.template'), { exact: true }).selectOption('connectivity_check')
  await dialog.getByLabel(t('runs.limit'), { exact: true }).fill('all')
  await dialog.getByRole('button', { name: t('common.save'), exact: true }).click()
  const secret = (await page.getByTestId('trigger-secret').textContent())!
  const url = new URL((await page.getByTestId('trigger-url').textContent())!)
  await page.getByRole('button', { name: t('tokens.createdDone') }).click()
  await expect(page.getByText(secret)).toHaveCount(0)

  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = `sha256=${createHmac('sha256', secret).update(`${timestamp}.{}`).digest('hex')}`
  const headers = { 'x-muster-timestamp': timestamp, 'x-muster-signature': signature, 'content-type': 'application/json' }
  const sent = await request.post(new URL(url.pathname, page.url()).href, { headers, data: Buffer.from('{}') })
  expect(sent.status(), await sent.text()).toBe(202)
  const row = page.getByRole('listitem').filter({ hasText: 'deploy' })
  await expect(row.getByRole('link', { name: /#1/ })).toBeVisible()
  await row.getByRole('button', { name: t('trigger.history'), exact: true }).click()
  await expect(page.getByRole('dialog').getByRole('listitem')).toHaveCount(1)
})
