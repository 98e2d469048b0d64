import { agentStateOf, hasAgent, nodeName } from '../fixtures/scenes/fleet.ts'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'
import { checkPage } from '../visual/check-page.ts'
import { pages } from '../visual/pages.ts'

// In one worker: 10,000 nodes are seeded once.
test.describe.configure({ mode: 'default' })

for (const page of pages) if (page.scene === 'large') checkPage(page, ['light'])

test('scrolls through 10,000 nodes with few rows in the page, and selects all of them', async ({ page, scenes, signIn }) => {
  await signIn((await scenes.large()).operator)
  await page.goto('/nodes')
  const rows = page.getByRole('list', { name: t('nav.nodes') }).getByRole('listitem')
  await expect(rows.first()).toBeVisible()
  await expect(async () => {
    await page.keyboard.press('End')
    await expect(page.getByRole('link', { name: nodeName(9999) })).toBeVisible({ timeout: 100 })
  }).toPass({ timeout: 90_000, intervals: [50] })
  expect(await rows.count()).toBeLessThan(80)
  await page.keyboard.press('Home')
  await page.getByRole('checkbox', { name: t('nodes.select', { name: nodeName(0) }) }).click()
  await page.getByRole('button', { name: t('nodes.selectAll', { count: 10_000 }) }).click()
  await expect(page.getByText(t('nodes.selected', { count: 10_000 }))).toBeVisible({ timeout: 60_000 })
})

test('counts the states of 10,000 nodes and reaches the last cell by keyboard', async ({ page, scenes, signIn }) => {
  await signIn((await scenes.large()).operator)
  await page.goto('/fleet')
  const agents = Array.from({ length: 10_000 }, (_, i) => i).filter(hasAgent)
  const states = page.getByRole('list', { name: t('fleet.states') })
  for (const state of ['ACTIVE', 'STALE', 'OFFLINE', 'DRAINING'] as const) {
    const count = agents.filter((i) => agentStateOf(i) === state).length
    await expect(states.getByRole('link', { name: t(`agentState.${state}`) })).toContainText(count.toLocaleString('en'))
  }
  await page.getByRole('listbox', { name: /training/ }).focus()
  await page.keyboard.press('End')
  const last = agents.filter((i) => i % 3 === 0).at(-1)!
  await expect(page.getByRole('listbox', { name: /training/ }).getByRole('option')).toContainText(nodeName(last))
})
