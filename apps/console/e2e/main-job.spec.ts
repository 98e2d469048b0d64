import fs from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { type Product, startProduct } from './fixtures/product.ts'
import { t } from './labels.ts'
import { testExternalClusters } from './slurm-scenarios.ts'

// The main job, in order, on one installation with real machines: each test continues where the one before stopped.
test.describe.configure({ mode: 'serial', timeout: 120_000 })

const owner = { name: 'Ada Park', email: 'ada@rack.example', password: 'a long enough password' }
let product: Product
let page: Page

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const dialogButton = (name: string | RegExp) => page.getByRole('dialog').getByRole('button', { name, exact: true })
const open = (path: string) => page.goto(new URL(path, product.url).href)
const status = () => page.getByTestId('run-status')

test.beforeAll(async ({ browser }) => {
  test.setTimeout(180_000)
  product = await startProduct()
  page = await browser.newPage()
})
test.afterAll(async () => {
  await page?.close()
  await product?.stop()
})

test('signs in with the link of the first start and asks for a password', async () => {
  await page.goto(product.signInLink)
  await expect(page.getByRole('heading', { name: t('welcome.title') })).toBeVisible()
  // Without a password the owner could not sign in again, so other pages lead back.
  await open('/nodes')
  await expect(page.getByRole('heading', { name: t('welcome.title') })).toBeVisible()
  await page.getByLabel(t('welcome.name')).fill(owner.name)
  await page.getByLabel(t('signIn.email')).fill(owner.email)
  await page.getByLabel(t('signIn.password')).fill(owner.password)
  await button(t('welcome.submit')).click()
  await expect(page.getByRole('heading', { name: t('nodes.emptyTitle') })).toBeVisible()
})

test('rejects a sign-in link that was used', async ({ browser }) => {
  const visitor = await browser.newPage()
  await visitor.goto(product.signInLink)
  await expect(visitor.getByRole('heading', { name: t('signIn.linkFailed') })).toBeVisible()
  await visitor.close()
})

test('returns to the opened page after signing out and in again', async () => {
  await button(owner.name).click()
  await page.getByRole('menuitem', { name: t('account.signOut') }).click()
  await expect(button(t('signIn.submit'))).toBeVisible()
  await open('/runs?status=FAILED')
  await page.getByLabel(t('signIn.email')).fill(owner.email)
  await page.getByLabel(t('signIn.password')).fill('not the password')
  await button(t('signIn.submit')).click()
  await expect(page.getByRole('alert').first()).toContainText(/password/)
  await page.getByLabel(t('signIn.password')).fill(owner.password)
  await button(t('signIn.submit')).click()
  await expect(page).toHaveURL(/\/runs\?status=FAILED$/)
})

testExternalClusters(() => ({ product, page }))

test('adds lab nodes in bulk, approves their keys bastion first, and discovers their hardware', async () => {
  await open('/nodes/add')
  await button(t('lab.add', { count: 8 })).click()
  // Whoever leaves the wizard finds the way back from the list.
  await expect(button(t('hostKey.review'))).toBeVisible()
  await page.getByRole('link', { name: t('preflight.later') }).click()
  await expect(page.getByText(t('nodes.waiting', { count: 8 }))).toBeVisible()
  await button(t('nodes.setUp')).click()
  await expect(page).toHaveURL(/step=test/)
  await page.reload()
  // Round one: six nodes and the bastion offer their keys; round two: the two nodes behind it.
  const discover = button(t('wizard.discover'))
  for (let round = 0; round < 3; round++) {
    const isFinished = async () =>
      (await page.locator('[data-testid=preflight]').count()) === 8 &&
      (await page.locator('[data-testid=preflight] .animate-spin').count()) === 0
    await expect.poll(isFinished, { timeout: 60_000 }).toBe(true)
    if (!(await button(t('hostKey.review')).isVisible())) {
      await expect(discover).toBeVisible()
      break
    }
    await button(t('hostKey.review')).click()
    const dialog = page.getByRole('dialog')
    await expect(dialog.getByText('SHA256:').first()).toBeVisible()
    // No key is preselected.
    for (const key of await dialog.getByRole('checkbox').all()) await key.check()
    const approve = [1, 2, 3, 4, 5, 6, 7, 8].map((count) => t('hostKey.approveCount', { count }))
    await dialogButton(new RegExp(`^(${approve.join('|')})$`)).click()
    await expect(dialog).toBeHidden()
  }
  await expect(page.locator('[data-testid=preflight][data-ok=true]')).toHaveCount(8)
  await discover.click()
  await expect(page.locator('[data-testid=found][data-status=SUCCEEDED]')).toHaveCount(8, { timeout: 60_000 })
  await expect(page.getByText('H100').first()).toBeVisible()
})

test('keeps filters in the URL and across a reload', async () => {
  await open('/nodes')
  const rows = page.getByRole('list', { name: t('nav.nodes') }).getByRole('listitem')
  await expect(rows).toHaveCount(9)
  await expect(rows.getByText(t('nodeStatus.READY'), { exact: true })).toHaveCount(9)
  await expect(button(t('nodes.setUp'))).toBeHidden()
  await button(t('filter.open')).click()
  const amd = page.getByRole('checkbox', { name: t('deviceType.AMD_GPU') })
  await amd.click()
  await expect(amd).toBeChecked()
  await expect(rows).toHaveCount(1)
  await expect(page).toHaveURL(/device=AMD_GPU/)
  await page.reload()
  await expect(rows).toHaveCount(1)
  await open('/nodes')
  await expect(rows).toHaveCount(9)
  await page.keyboard.press('/')
  await page.keyboard.type('gpu-h100-[01-02]')
  await expect(rows).toHaveCount(2)
  await page.reload()
  await expect(rows).toHaveCount(2)
})

test('shows the accelerators, facts and raw output of a node', async () => {
  await open('/nodes?q=mi300x')
  await page.getByRole('link', { name: 'gpu-mi300x-01' }).click()
  await page.getByRole('tab', { name: t('nodes.accelerators') }).click()
  await expect(page.getByRole('row')).toHaveCount(9)
  await page.getByRole('tab', { name: t('node.tabFacts') }).click()
  await button(t('facts.raw')).click()
  await expect(page.getByText('amd-smi').first()).toBeVisible()
})

test('runs collect_facts on all nodes; the log follows until the reader scrolls up', async () => {
  await open('/runs/new?template=collect_facts&limit=all')
  await expect(page.getByText(t('runs.limitAll', { count: 9 }))).toBeVisible()
  await button(t('runs.start')).click()
  const log = page.getByTestId('log')
  await expect(log).toContainText('Probe the node', { timeout: 60_000 })
  await expect(status()).toHaveText(t('runStatus.SUCCEEDED'), { timeout: 90_000 })
  await expect(log).toContainText('PLAY RECAP')
  await page.setViewportSize({ width: 1360, height: 560 })
  await log.evaluate((box) => box.scrollTo(0, box.scrollHeight))
  await expect(log).toHaveAttribute('data-following', 'true')
  await log.hover()
  await page.mouse.wheel(0, -300)
  await expect(log).toHaveAttribute('data-following', 'false')
  await button(t('log.toEnd')).click()
  await expect(log).toHaveAttribute('data-following', 'true')
  await page.setViewportSize({ width: 1360, height: 850 })
  await page.getByRole('tab', { name: t('run.tabHosts') }).click()
  await expect(page.getByRole('link', { name: 'gpu-h100-01' })).toBeVisible()
  await page.getByRole('tab', { name: t('run.tabEvents') }).click()
  await page
    .getByRole('button', { name: /Probe the node/ })
    .first()
    .click()
  await expect(page.getByRole('dialog').locator('pre')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
})

test('links to a line of a log', async () => {
  await page.getByRole('tab', { name: t('run.tabLog') }).click()
  // The tab changes the address a little later, and would remove the line from it.
  await expect(page).not.toHaveURL(/tab=/)
  await expect(page.getByTestId('log')).toBeVisible()
  await page.goto(`${page.url().split('#')[0]}#L5`)
  await page.reload()
  await expect(page.locator('[data-line="5"]')).toHaveClass(/bg-accent-soft/)
})

test('cancels a run in the middle of a task', async () => {
  await product.lab.fault('gpu-max1550-01', 'slow-shell', { seconds: 30 })
  await open('/runs/new?template=collect_facts&limit=gpu-max1550-01')
  await button(t('runs.start')).click()
  await expect(page.getByTestId('log')).toContainText('TASK', { timeout: 60_000 })
  await button(t('run.cancel')).click()
  await dialogButton(t('run.cancel')).click()
  await expect(status()).toHaveText(t('runStatus.CANCELED'), { timeout: 60_000 })
  await expect(page.getByText(t('run.interruptedTitle', { count: 1 }))).toBeVisible()
  await product.lab.heal('gpu-max1550-01')
})

test('retries a run on an unreachable host and downloads its log', async () => {
  await product.lab.fault('cpu-01', 'sshd-stop')
  await open('/runs/new?template=connectivity_check&limit=cpu-[01-02]')
  await button(t('runs.preview')).click()
  await expect(page.getByText('ansible-playbook -i')).toBeVisible()
  await button(t('runs.start')).click()
  await expect(status()).toHaveText(t('runStatus.PARTIAL'), { timeout: 60_000 })
  const first = page.url()
  await product.lab.heal('cpu-01')
  await button(t('run.retry', { count: 1 })).click()
  await expect(page).not.toHaveURL(first)
  await expect(status()).toHaveText(t('runStatus.SUCCEEDED'), { timeout: 60_000 })
  await button(t('log.download')).click()
  const text = page.getByRole('menuitem', { name: t('logFormat.text'), exact: true })
  const [file] = await Promise.all([page.waitForEvent('download'), text.click()])
  expect(fs.readFileSync(await file.path(), 'utf8')).toContain('PLAY RECAP')
  await page.locator(`a[href="${new URL(first).pathname}"]`).click()
  await expect(page.getByText(t('run.retries'))).toBeVisible()
})

test('raises an alarm for a changed host key until the new key is approved', async () => {
  const name = 'gpu-h100-02'
  await product.lab.fault(name, 'changed-host-key')
  await open(`/nodes?q=${name}`)
  await page.getByRole('link', { name }).click()
  await button(t('nodes.test')).click()
  await expect(page.getByRole('dialog').getByText(t('test.failedAt', { stage: t('preflight.HOST_KEY') }))).toBeVisible()
  await page.keyboard.press('Escape')
  const alarm = page.getByRole('heading', { name: t('hostKey.changedTitle') })
  await expect(alarm).toBeVisible()
  await button(t('hostKey.approveNew')).click()
  await expect(dialogButton(t('hostKey.approve'))).toHaveAttribute('aria-disabled', 'true')
  await page.getByLabel(t('confirm.type', { name })).fill(name)
  await dialogButton(t('hostKey.approve')).click()
  await expect(alarm).toBeHidden()
  await expect(page.getByText(t('nodeStatus.READY'), { exact: true }).first()).toBeVisible()
})

test('shows an API token once and revokes it', async () => {
  await open('/settings/tokens')
  await button(t('tokens.new')).first().click()
  await page.getByLabel(t('tokens.name')).fill('nightly export')
  await button(t('tokens.create')).click()
  await expect(page.getByTestId('token')).toHaveText(/\S{20,}/)
  await dialogButton(t('tokens.createdDone')).click()
  await button(t('tokens.revoke')).click()
  await dialogButton(t('tokens.revoke')).click()
  await expect(page.getByText(t('tokens.revoked'), { exact: true })).toBeVisible()
})

test('rejects an invalid private key at its field', async () => {
  await open('/credentials')
  await button(t('credential.new')).first().click()
  await page.getByLabel(t('credential.name')).fill('broken')
  await page.getByLabel(t('credential.username'), { exact: true }).fill('root')
  await page.getByLabel(t('credential.privateKey')).fill('not a key')
  await button(t('credential.save')).click()
  await expect(page.getByLabel(t('credential.privateKey'))).toHaveAttribute('aria-invalid', 'true')
})
