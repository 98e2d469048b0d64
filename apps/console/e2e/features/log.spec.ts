import { insertRun, logLine } from '@muster/core/testing'
import { expect, test } from '../fixtures/test.ts'
import { runUrl } from '../fixtures/urls.ts'
import { workerOf } from '../fixtures/worker-of.ts'
import { t } from '../labels.ts'

test('opens, scrolls, searches and links into a log of 100,000 lines with few rows in the page', async ({
  page,
  createFleet,
  signIn,
}) => {
  const { operator, nodes } = await createFleet({ nodes: 12 })
  const run = await insertRun(operator, { status: 'SUCCEEDED', nodes, lines: 100_000 })
  expect(run.lastLine).toBe(100_000)
  await signIn(operator)
  await page.goto(`${runUrl(run)}#L50000`)
  const log = page.getByTestId('log')
  const line = (number: number) => log.locator(`[data-line="${number}"]`)
  const count = page.getByText(t('log.lines', { count: 100_000 }), { exact: true }).first()
  await expect(count).toBeVisible({ timeout: 90_000 })
  await expect(line(50_000)).toContainText(logLine(50_000))
  await log.focus()
  await page.keyboard.press('End')
  await expect(line(100_000)).toContainText(logLine(100_000))
  expect(await log.locator('[data-line]').count()).toBeLessThan(100)
  await page.keyboard.press('Home')
  await expect(line(1)).toBeVisible()
  await page.getByLabel(t('log.search')).fill(logLine(77_777))
  await expect(page.getByText(t('log.hits', { count: 1 }), { exact: true })).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(line(77_777)).toBeVisible()
  await page.getByRole('button', { name: t('log.wrap') }).click()
  await log.focus()
  await page.keyboard.press('End')
  await expect(line(100_000)).toBeVisible()
})

test('resumes after a lost connection without a gap or a repeat', async ({ page, installation, createFleet, signIn }) => {
  const fleet = await createFleet({ nodes: 1 })
  const run = await insertRun(fleet.operator, { status: 'RUNNING', nodes: fleet.nodes })
  const worker = workerOf(fleet, run)
  const resumedAfter: number[] = []
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      const message = JSON.parse(String(payload)) as { type: string; payload?: { query: string; variables: { after?: number } } }
      if (message.payload?.query?.includes('jobRunEvents')) resumedAfter.push(Number(message.payload.variables.after ?? 0))
    }),
  )
  await signIn(fleet.operator)
  await page.goto(runUrl(run))
  const lines = (count: number) => page.getByText(t('log.lines', { count }), { exact: true }).first()
  await worker.append(5)
  await expect(page.getByTestId('log').locator('[data-line="200"]')).toBeVisible()
  installation.link.cut()
  await worker.append(5)
  await expect(page.getByText(t('live.lost')).first()).toBeVisible()
  installation.link.restore()
  await expect(page.getByTestId('log').locator('[data-line="400"]')).toContainText(logLine(400))
  expect(resumedAfter).toEqual([0, 5])
  // The next cut comes while a delayed link still delivers.
  installation.link.delay(200)
  await worker.append(20)
  installation.link.cut()
  installation.link.restore()
  await worker.finish()
  await expect(lines(1200)).toBeVisible()
  const log = page.getByTestId('log')
  for (const number of [200, 201, 400, 401, 1200]) {
    await log.evaluate((box, line) => box.scrollTo(0, Math.max(0, line - 5) * 20), number)
    await expect(log.locator(`[data-line="${number}"]`)).toContainText(logLine(number))
  }
})

test('stops following when the reader scrolls up, counts new lines and follows again', async ({ page, createFleet, signIn }) => {
  const fleet = await createFleet({ nodes: 1 })
  const run = await insertRun(fleet.operator, { status: 'RUNNING', nodes: fleet.nodes })
  const worker = workerOf(fleet, run)
  await worker.append(5)
  await signIn(fleet.operator)
  await page.goto(runUrl(run))
  const log = page.getByTestId('log')
  await expect(log.locator('[data-line="200"]')).toBeVisible()
  await worker.append(5)
  await expect(log.locator('[data-line="400"]')).toBeVisible()
  await log.hover()
  await page.mouse.wheel(0, -500)
  await expect(log).toHaveAttribute('data-following', 'false')
  const before = await log.evaluate((box) => box.scrollTop)
  await worker.append(2)
  const newLines = page.getByRole('button', { name: t('log.newLines', { count: 80 }) })
  await newLines.click({ trial: true })
  expect(await log.evaluate((box) => box.scrollTop)).toBe(before)
  await newLines.click()
  await expect(log.locator('[data-line="480"]')).toBeVisible()
  await expect(log).toHaveAttribute('data-following', 'true')
})
