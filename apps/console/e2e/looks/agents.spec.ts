import { expect, test } from '@playwright/test'
import { pretendApi } from '../pretend/api.ts'
import { pretendWorld } from '../pretend/world.ts'

test('ten thousand nodes are walked through by keyboard, change live, and open', async ({ page }) => {
  const world = pretendWorld({ nodes: 10_000 })
  let tell = async (_beats: object[]) => {}
  world.streams.heartbeats = (_variables, send) => {
    tell = send
  }
  await pretendApi(page, world)
  await page.goto('/fleet')
  const grid = page.getByRole('listbox', { name: /nodes of training/ })
  const cell = grid.getByRole('option')
  await grid.focus()
  await page.keyboard.press('ArrowRight')
  await expect(cell).toHaveText('gpu004: Pending, CPU 10 %, memory 58 %')
  await page.keyboard.press('End')
  await expect(cell).toContainText('gpu10000: ')
  await page.keyboard.press('Home')
  await expect(cell).toContainText('gpu001: Active')
  const stale = page.getByRole('list', { name: 'Nodes by state' }).getByRole('link', { name: /Stale/ })
  await expect(stale).toContainText('242')
  const beat = { nodeId: 'x', cluster: 'training', stateSince: new Date().toISOString(), heardAt: null, sequence: 7, skewMs: 1 }
  await tell([{ ...beat, name: 'gpu001', state: 'STALE', health: 'healthy', cpuPercent: 12.4, memoryPercent: null }])
  await expect(cell).toHaveText('gpu001: Stale, CPU 12 %, memory – %')
  await expect(stale).toContainText('243')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/nodes\/.*tab=agent$/)
  await expect(page.getByRole('heading', { name: 'gpu001' })).toBeVisible()
})

test('the numbers of the fleet lead to its nodes, filtered in the list', async ({ page }) => {
  await pretendApi(page, pretendWorld({ nodes: 400 }))
  await page.goto('/fleet?cluster=lab')
  await page.getByRole('table').getByRole('row', { name: /^lab/ }).getByRole('link').first().click()
  await expect(page).toHaveURL(/\/nodes\?agent=ACTIVE&cluster=lab&region=us-east&datacenter=va1$/)
  await expect(page.getByRole('button', { name: /Remove filter\s*Agent\s*Active/ })).toBeVisible()
})

test('an agent that may not be changed says why, and a drain asks for its reason', async ({ page }) => {
  const world = pretendWorld({})
  const asked: object[] = []
  world.root.drainAgent = (input: object) => {
    asked.push(input)
    return { __typename: 'ConflictError', message: 'The agent gpu001 is to be drained already.', code: 'CONFLICT' }
  }
  await pretendApi(page, world)
  await page.goto(`/nodes/${encodeURIComponent('TjpuZGUxMjM0=')}?tab=agent`)
  // What is blocked can be reached and clicked, though it does nothing but say why.
  await page.getByRole('button', { name: 'Resume' }).click({ force: true })
  await expect(page.getByRole('tooltip').filter({ hasText: 'Nobody asked' })).toBeVisible()
  await page.getByRole('button', { name: 'Drain', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('a new disk')
  await dialog.getByRole('button', { name: 'Drain', exact: true }).click()
  await expect(dialog.getByText('is to be drained already')).toBeVisible()
  expect(asked).toMatchObject([{ reason: 'a new disk' }])
})

test('an alert is looked after with a note, and silenced where it came from', async ({ page }) => {
  const world = pretendWorld({})
  const asked: object[] = []
  world.root.createAlertSilence = ({ input }: { input: object }) => {
    asked.push(input)
    return { __typename: 'AlertSilence', id: 'S9' }
  }
  await pretendApi(page, world)
  await page.goto('/alerts')
  const line = page.getByRole('listitem').filter({ hasText: 'gpu001 is offline' })
  await line.getByRole('button', { name: /^Acknowledge/ }).click()
  await page.getByLabel('Note').fill('The rack is being moved.')
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge', exact: true }).click()
  await expect(line.getByText('Looked after')).toBeVisible()
  await line.getByRole('button', { name: /^Silence/ }).click()
  await page.getByLabel('Why').fill('moving')
  await page.getByRole('dialog').getByRole('button', { name: 'Silence', exact: true }).click()
  await expect(page.getByRole('dialog')).toBeHidden()
  expect(asked).toMatchObject([{ reason: 'moving', matcher: { kinds: ['OFFLINE'], query: 'name = gpu001' } }])
})
