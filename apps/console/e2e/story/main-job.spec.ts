import fs from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { theLab } from './lab.ts'

// One story, told in order on one real installation: each test goes on where the one before stopped.
test.describe.configure({ mode: 'serial', timeout: 120_000 })

const owner = { name: 'Ada Park', email: 'ada@rack.example', password: 'a long enough password' }
let page: Page

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage()
})
test.afterAll(async () => {
  await (await theLab()).heal()
  await page.close()
})

test('the link from the first start signs in and leads to choosing a password', async () => {
  await page.goto(process.env.SIGN_IN_LINK ?? '')
  await expect(page.getByRole('heading', { name: 'Welcome to Muster' })).toBeVisible()
  // The way past it would lead to a console that one cannot come back to.
  await page.goto('/nodes')
  await expect(page.getByRole('heading', { name: 'Welcome to Muster' })).toBeVisible()
  await page.getByLabel('Name').fill(owner.name)
  await page.getByLabel('E-mail').fill(owner.email)
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: 'Save and go on' }).click()
  await expect(page.getByRole('heading', { name: 'No nodes yet' })).toBeVisible()
})

test('the link works only once', async ({ browser }) => {
  const stranger = await browser.newPage()
  await stranger.goto(process.env.SIGN_IN_LINK ?? '')
  await expect(stranger.getByRole('heading', { name: 'This link does not work' })).toBeVisible()
  await stranger.close()
})

test('signing out and in again comes back to where one wanted to be', async () => {
  await page.getByRole('button', { name: owner.name }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible()
  await page.goto('/runs?status=FAILED')
  await page.getByLabel('E-mail').fill(owner.email)
  await page.getByLabel('Password').fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('alert').first()).toContainText('The email address or the password is wrong.')
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page).toHaveURL(/\/runs\?status=FAILED$/)
})

test('lab nodes are added in bulk, their keys approved bastion first, and what is inside is found', async () => {
  await page.goto('/nodes/add')
  await page.getByRole('button', { name: 'Add all 8' }).click()
  // Whoever leaves in the middle finds the way back from the list.
  await expect(page.getByRole('button', { name: 'Look at the keys' })).toBeVisible()
  await page.getByRole('link', { name: 'Finish later' }).click()
  await expect(page.getByText('8 nodes are not in yet')).toBeVisible()
  await page.getByRole('button', { name: 'Test and approve' }).click()
  await expect(page).toHaveURL(/step=test/)
  await page.reload()
  // Round one: six nodes and the bastion show their keys; round two: the two behind it.
  for (let round = 0; round < 3; round++) {
    const review = page.getByRole('button', { name: 'Look at the keys' })
    const go = page.getByRole('button', { name: 'Look what is inside' })
    const isOver = async () =>
      (await page.locator('[data-testid=preflight]').count()) === 8 &&
      (await page.locator('[data-testid=preflight] .animate-spin').count()) === 0
    await expect.poll(isOver, { timeout: 60_000 }).toBe(true)
    if (!(await review.isVisible())) {
      await expect(go).toBeVisible()
      break
    }
    await review.click()
    await expect(page.getByRole('dialog').getByText('SHA256:').first()).toBeVisible()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve/ })
      .click()
    await expect(page.getByRole('dialog')).toBeHidden()
  }
  await expect(page.locator('[data-testid=preflight][data-ok=true]')).toHaveCount(8)
  await page.getByRole('button', { name: 'Look what is inside' }).click()
  await expect(page.locator('[data-testid=found][data-status=SUCCEEDED]')).toHaveCount(8, { timeout: 60_000 })
  await expect(page.getByText('H100').first()).toBeVisible()
})

test('filters stand in the URL and survive a reload', async () => {
  await page.goto('/nodes')
  const list = page.getByRole('list', { name: 'Nodes' })
  await expect(list.getByRole('listitem')).toHaveCount(8)
  await expect(list.getByText('Ready', { exact: true })).toHaveCount(8)
  await expect(page.getByText('not in yet')).toBeHidden()
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByRole('checkbox', { name: /AMD GPU/ }).click()
  await expect(page.getByRole('checkbox', { name: /AMD GPU/ })).toBeChecked()
  await expect(list.getByRole('listitem')).toHaveCount(1)
  await expect(page).toHaveURL(/device=AMD_GPU/)
  await page.reload()
  await expect(list.getByRole('listitem')).toHaveCount(1)
  await page.goto('/nodes')
  await expect(list.getByRole('listitem')).toHaveCount(8)
  await page.keyboard.press('/')
  await page.keyboard.type('gpu-h100-[01-02]')
  await expect(list.getByRole('listitem')).toHaveCount(2)
  await page.reload()
  await expect(list.getByRole('listitem')).toHaveCount(2)
})

test('a node shows its accelerators, its facts and what was read raw', async () => {
  await page.goto('/nodes?q=mi300x')
  await page.getByRole('link', { name: 'gpu-mi300x-01' }).click()
  await page.getByRole('tab', { name: /Accelerators/ }).click()
  await expect(page.getByRole('row')).toHaveCount(9)
  await page.getByRole('tab', { name: 'Facts' }).click()
  await page.getByRole('button', { name: 'Raw output' }).click()
  await expect(page.getByText('amd-smi').first()).toBeVisible()
})

test('collect_facts runs on all nodes; its log follows, and lets go when the reader scrolls up', async () => {
  await page.goto('/runs/new?template=collect_facts&limit=all')
  await expect(page.getByText('All 8 nodes.')).toBeVisible()
  await page.getByRole('button', { name: 'Start run' }).click()
  const log = page.getByTestId('log')
  await expect(log).toContainText('Probe the node', { timeout: 60_000 })
  await expect(page.getByTestId('run-status')).toHaveText(/Succeeded|Partial/, { timeout: 90_000 })
  await expect(log).toContainText('PLAY RECAP')
  await page.setViewportSize({ width: 1360, height: 560 })
  await log.evaluate((box) => box.scrollTo(0, box.scrollHeight))
  await expect(log).toHaveAttribute('data-following', 'true')
  await log.hover()
  await page.mouse.wheel(0, -300)
  await expect(log).toHaveAttribute('data-following', 'false')
  await page.getByRole('button', { name: 'Jump to the end' }).click()
  await expect(log).toHaveAttribute('data-following', 'true')
  await page.setViewportSize({ width: 1360, height: 850 })
  await page.getByRole('tab', { name: /Hosts/ }).click()
  await expect(page.getByRole('link', { name: 'gpu-h100-01' })).toBeVisible()
  await page.getByRole('tab', { name: 'Events' }).click()
  await page
    .getByRole('button', { name: /Probe the node/ })
    .first()
    .click()
  await expect(page.getByRole('dialog').locator('pre')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
})

test('a line of a log can be linked to', async () => {
  await page.getByRole('tab', { name: 'Log' }).click()
  // The tab writes itself into the address a little later, and would take the line out again.
  await expect(page).not.toHaveURL(/tab=/)
  await expect(page.getByTestId('log')).toBeVisible()
  await page.goto(`${page.url().split('#')[0]}#L5`)
  await page.reload()
  await expect(page.locator('[data-line="5"]')).toHaveClass(/bg-accent-soft/)
})

test('a run is canceled in the middle of a task', async () => {
  const lab = await theLab()
  await lab.fault('gpu-max1550-01', 'slow-shell', { seconds: 30 })
  await page.goto('/runs/new?template=collect_facts&limit=gpu-max1550-01')
  await page.getByRole('button', { name: 'Start run' }).click()
  await expect(page.getByTestId('log')).toContainText('TASK', { timeout: 60_000 })
  await page.getByRole('button', { name: 'Cancel run' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
  await expect(page.getByTestId('run-status')).toHaveText('Canceled', { timeout: 60_000 })
  await expect(page.getByText('was in the middle of a task')).toBeVisible()
  await lab.heal('gpu-max1550-01')
})

test('a run is tried again where a host was away, its log comes as a file', async () => {
  const lab = await theLab()
  await lab.fault('cpu-01', 'sshd-stop')
  await page.goto('/runs/new?template=connectivity_check&limit=cpu-[01-02]')
  await page.getByRole('button', { name: 'Preview' }).click()
  await expect(page.getByText('ansible-playbook -i')).toBeVisible()
  await page.getByRole('button', { name: 'Start run' }).click()
  await expect(page.getByTestId('run-status')).toHaveText('Partial', { timeout: 60_000 })
  await lab.heal('cpu-01')
  await page.getByRole('button', { name: 'Retry 1 host' }).click()
  await expect(page.getByText('Attempt 2')).toBeVisible()
  await expect(page.getByTestId('run-status')).toHaveText('Succeeded', { timeout: 60_000 })
  await page.getByRole('button', { name: 'Download the log' }).click()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Text', exact: true }).click()])
  expect(fs.readFileSync(await file.path(), 'utf8')).toContain('PLAY RECAP')
  await page.getByRole('link', { name: /^again after/ }).click()
  await expect(page.getByText('Tried again:')).toBeVisible()
})

test('a changed host key raises an alarm, and approving the new key after a look ends it', async () => {
  const lab = await theLab()
  await lab.fault('gpu-h100-02', 'changed-host-key')
  await page.goto('/nodes?q=gpu-h100-02')
  await page.getByRole('link', { name: 'gpu-h100-02' }).click()
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await expect(page.getByRole('dialog').getByText('Failed: Host key')).toBeVisible()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await expect(page.getByRole('heading', { name: 'The host key has changed' })).toBeVisible()
  await page.getByRole('button', { name: 'Approve the new key…' }).click()
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Approve key' })).toHaveAttribute('aria-disabled', 'true')
  await page.getByLabel('Type gpu-h100-02 to confirm').fill('gpu-h100-02')
  await page.getByRole('dialog').getByRole('button', { name: 'Approve key' }).click()
  await expect(page.getByRole('heading', { name: 'The host key has changed' })).toBeHidden()
  await expect(page.getByText('Ready', { exact: true }).first()).toBeVisible()
})

test('an API token is shown once and can be revoked', async () => {
  await page.goto('/settings/tokens')
  await page.getByRole('button', { name: 'New token' }).first().click()
  await page.getByLabel('Name').fill('nightly export')
  await page.getByRole('button', { name: 'Create token' }).click()
  await expect(page.getByTestId('token')).toHaveText(/\S{20,}/)
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.getByText('revoked', { exact: true })).toBeVisible()
})

test('bad credentials are refused when they are saved, at the field', async () => {
  await page.goto('/credentials')
  await page.getByRole('button', { name: 'New credential' }).first().click()
  await page.getByLabel('Name').fill('broken')
  await page.getByLabel('User', { exact: true }).fill('root')
  await page.getByLabel('Private key').fill('not a key at all')
  await page.getByRole('button', { name: 'Save credential' }).click()
  await expect(page.getByLabel('Private key')).toHaveAttribute('aria-invalid', 'true')
})
