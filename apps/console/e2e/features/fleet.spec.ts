import { acceptHeartbeats } from '@muster/core/heartbeats'
import { computeNodes } from '@muster/core/nodes'
import { heartbeatOf } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { agentStateOf, hasAgent, nodeName, siteOf } from '../fixtures/scenes/fleet.ts'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

const percent = (value: number) => t('unit.percent', { value })

test('shows live heartbeats, is navigated by keyboard and opens a node', async ({ page, createFleet, signIn }) => {
  const { operator, system, nodes, agents } = await createFleet({ nodes: 300, mixed: true })
  const withAgent = nodes.map((_, i) => i).filter(hasAgent)
  const training = withAgent.filter((i) => siteOf(i).cluster === 'training')
  const cellOf = (i: number) => {
    const state = agentStateOf(i)
    // A pending agent has sent no heartbeat.
    const load = (factor: number) => (state === 'PENDING' ? t('common.none') : percent((i * factor) % 101))
    return t('fleet.cell', { name: nodeName(i), state: t(`agentState.${state}`), cpu: load(37), memory: load(53) })
  }
  const unreachable = { unreachableSince: new Date(), unreachableReason: 'Connection refused.' }
  await system.db.update(computeNodes).set(unreachable).where(eq(computeNodes.id, nodes[training[0]!]!.id))
  await signIn(operator)
  await page.goto('/fleet')
  const grid = page.getByRole('listbox', { name: /training/ })
  const cell = grid.getByRole('option')
  await grid.focus()
  await page.keyboard.press('ArrowRight')
  await expect(cell).toContainText(cellOf(training[1]!))
  await page.keyboard.press('End')
  await expect(cell).toContainText(cellOf(training.at(-1)!))
  await page.keyboard.press('Home')
  await expect(cell).toContainText(cellOf(training[0]!))
  // The overall health of the chosen node, for screen readers and next to the cell.
  await expect(cell).toContainText(`${t('nodeHealth.UNHEALTHY')}. Connection refused.`)
  await expect(grid.getByTestId('node-health')).toHaveText(`${t('nodeHealth.UNHEALTHY')}Connection refused.`)
  // The next cell has no health until the API answers, not the health of the previous cell.
  const answer = Promise.withResolvers<void>()
  await page.route('/graphql', async (route, request) => {
    if (request.postData()?.includes('query FleetNode')) await answer.promise
    await route.continue()
  })
  const reading = page.waitForRequest((request) => request.postData()?.includes('query FleetNode') ?? false)
  await page.keyboard.press('ArrowRight')
  await reading
  expect(await cell.textContent()).toBe(cellOf(training[1]!))
  await expect(grid.getByTestId('node-health')).toHaveCount(0)
  answer.resolve()
  await expect(grid.getByTestId('node-health')).toBeVisible()
  await page.keyboard.press('Home')

  const states = page.getByRole('list', { name: t('fleet.states') })
  const stale = states.getByRole('link', { name: t('agentState.STALE') })
  const count = withAgent.filter((i) => agentStateOf(i) === 'STALE').length
  await expect(stale).toContainText(String(count))
  // A node of the cluster that was stale sends a heartbeat.
  const silent = training.find((i) => agentStateOf(i) === 'STALE')!
  const agent = agents.find(({ name }) => name === nodeName(silent))!
  const health = { status: 'healthy' as const, cpu_utilization_percent: 12, memory_utilization_percent: 7 }
  expect(await acceptHeartbeats(system, [heartbeatOf(agent, 41_234, new Date(), { health })])).toEqual(['accepted'])
  await expect(stale).toContainText(String(count - 1))
  for (let step = 0; step < training.indexOf(silent); step++) await page.keyboard.press('ArrowRight')
  const heard = { name: nodeName(silent), state: t('agentState.ACTIVE'), cpu: percent(12), memory: percent(7) }
  await expect(cell).toContainText(t('fleet.cell', heard))
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/nodes\/.*tab=agent$/)
  await expect(page.getByRole('heading', { name: nodeName(silent) })).toBeVisible()
})

test('links each number to the filtered node list', async ({ page, scenes, signIn }) => {
  await signIn((await scenes.showcase()).operator)
  await page.goto('/fleet?cluster=lab')
  await page.getByRole('table').getByRole('row', { name: /^lab/ }).getByRole('link').first().click()
  await expect(page).toHaveURL(/\/nodes\?agent=ACTIVE&cluster=lab&region=us-east&datacenter=va1$/)
  const filter = new RegExp(`${t('filter.remove')}\\s*${t('filter.agent')}\\s*${t('agentState.ACTIVE')}`)
  await expect(page.getByRole('button', { name: filter })).toBeVisible()
  await expect(page.getByRole('link', { name: nodeName(2) })).toBeVisible()
})
