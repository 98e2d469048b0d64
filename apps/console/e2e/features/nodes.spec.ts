import { computeNodes } from '@muster/core/nodes'
import { eq } from 'drizzle-orm'
import { recordConnectionTests } from '../fixtures/connection-worker.ts'
import { nodeName } from '../fixtures/scenes.ts'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('leads from nodes that need setup into their connection tests, which survive a reload', async ({
  page,
  createFleet,
  signIn,
}) => {
  const fleet = await createFleet({ nodes: 3, agents: false })
  const fresh = { hostKey: null, hostKeyApprovedAt: null, readyAt: null, lastSeenAt: null }
  await fleet.system.db.update(computeNodes).set(fresh).where(eq(computeNodes.tenantId, fleet.system.tenantId))
  let tests = 0
  page.on('request', (request) => request.postData()?.includes('testConnections(') && tests++)
  await signIn(fleet.operator)
  await page.goto('/nodes')
  await page.getByRole('button', { name: t('nodes.setUp') }).click()
  await expect(page).toHaveURL(/\/nodes\/add\?step=test&nodes=/)
  await recordConnectionTests(fleet, 3)
  const review = page.getByRole('button', { name: t('hostKey.review') })
  await review.click()
  await expect(page.getByRole('dialog').getByText('SHA256:').first()).toBeVisible()
  await expect(page.getByRole('dialog').getByText('ssh-keygen -lf')).toBeVisible()
  await page.reload()
  await expect(review).toBeVisible()
  expect(tests).toBe(1)
  await page.goBack()
  await expect(page).toHaveURL(/\/nodes$/)
})

test('keeps the selection and lists the nodes that rejected a bulk edit', async ({ page, createFleet, signIn }) => {
  const { operator, system, nodes } = await createFleet({ nodes: 3 })
  await signIn(operator)
  await page.goto('/nodes')
  for (const i of [0, 1]) await page.getByRole('checkbox', { name: t('nodes.select', { name: nodeName(i) }) }).click()
  await page.getByRole('link', { name: nodeName(0) }).click()
  await expect(page.getByRole('heading', { name: nodeName(0) })).toBeVisible()
  await page.goBack()
  await expect(page.getByText(t('nodes.selected', { count: 2 }))).toBeVisible()
  await page
    .getByRole('toolbar')
    .getByRole('button', { name: t('node.more') })
    .click()
  await page.getByRole('menuitem', { name: t('node.edit') }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText(t('bulk.nothing'))).toBeVisible()
  await dialog.getByLabel(t('bulk.addTags')).fill('rack9')
  // Another user decommissions one of them.
  await system.db.update(computeNodes).set({ decommissionedAt: new Date() }).where(eq(computeNodes.id, nodes[1]!.id))
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(dialog.getByText(t('bulk.refused', { count: 1, done: 1 }))).toBeVisible()
  await expect(dialog.getByRole('listitem').filter({ hasText: nodeName(1) })).toBeVisible()
  await expect(dialog.getByRole('button', { name: t('preflight.retryFailed', { count: 1 }) })).toBeVisible()
  const [changed] = await system.db.select().from(computeNodes).where(eq(computeNodes.id, nodes[0]!.id))
  expect(changed!.tags).toContain('rack9')
})

test('shows the overall health of a node with its reason in the list and in the header', async ({
  page,
  createFleet,
  signIn,
}) => {
  const { operator, system, nodes } = await createFleet({ nodes: 2, agents: false })
  const unreachable = { unreachableSince: new Date(), unreachableReason: 'Connection refused.' }
  await system.db.update(computeNodes).set(unreachable).where(eq(computeNodes.id, nodes[0]!.id))
  await signIn(operator)
  await page.goto('/nodes')
  const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: nodeName(0) }) })
  const badge = row.getByTestId('node-health').filter({ visible: true })
  await expect(badge).toHaveText(t('nodeHealth.UNHEALTHY'))
  await expect(badge.locator('[title]')).toHaveAttribute('title', 'Connection refused.')
  await page.getByRole('link', { name: nodeName(0) }).click()
  await expect(page.getByRole('heading', { name: nodeName(0) })).toBeVisible()
  await expect(page.getByTestId('node-health')).toHaveText(`${t('nodeHealth.UNHEALTHY')}Connection refused.`)
})
