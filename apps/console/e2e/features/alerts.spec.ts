import { alertResolveBlockedReason, alerts } from '@muster/core/alerts'
import { and, eq } from 'drizzle-orm'
import { createAlerts } from '../fixtures/scenes/alerts.ts'
import { nodeName } from '../fixtures/scenes/fleet.ts'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

const checkbox = (i: number) => ({ name: new RegExp(`${nodeName(i)} `) })

test('acknowledges a range of alerts with one note', async ({ page, createFleet, signIn }) => {
  const { operator, system, nodes } = await createFleet({ nodes: 5 })
  await createAlerts(system, nodes)
  await signIn(operator)
  await page.goto('/alerts')
  await page.getByRole('checkbox', checkbox(0)).click()
  await page.getByRole('checkbox', checkbox(3)).click({ modifiers: ['Shift'] })
  const bar = page.getByRole('toolbar', { name: t('alerts.selectedActions') })
  await expect(bar.getByText(t('nodes.selected', { count: 4 }))).toBeVisible()
  await bar.getByRole('button', { name: t('alerts.acknowledge') }).click()
  await page.getByLabel(t('alerts.note')).fill('The rack is being moved.')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('alerts.acknowledge') })
    .click()
  await expect(bar).toBeHidden()
  const acknowledged = and(eq(alerts.tenantId, system.tenantId), eq(alerts.acknowledgedByName, operator.actor.name))
  const rows = await system.db.select().from(alerts).where(acknowledged)
  expect(rows.map(({ nodeId }) => nodeId).toSorted()).toEqual(
    nodes
      .slice(0, 4)
      .map(({ id }) => id)
      .toSorted(),
  )
  expect(new Set(rows.map(({ acknowledgment }) => acknowledgment))).toEqual(new Set(['The rack is being moved.']))
})

test('marks a lost accelerator as expected, and reports an alert that is resolved already', async ({
  page,
  createFleet,
  signIn,
}) => {
  const { owner, system, nodes } = await createFleet({ nodes: 5 })
  await createAlerts(system, nodes)
  await signIn(owner)
  await page.goto('/alerts')
  await page.getByRole('button', { name: new RegExp(`^${nodeName(4)} `) }).click()
  await page.getByRole('button', { name: t('alerts.expected') }).click()
  const lost = and(eq(alerts.tenantId, system.tenantId), eq(alerts.kind, 'accelerator_lost'))
  await system.db.update(alerts).set({ resolvedAt: new Date() }).where(lost)
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('alerts.expected') })
    .click()
  const reason = alertResolveBlockedReason(owner.actor, { kind: 'accelerator_lost', resolvedAt: new Date() })
  await expect(page.getByRole('dialog').getByText(reason!)).toBeVisible()
})

test('acknowledges one alert and silences its node', async ({ page, createFleet, signIn }) => {
  const { operator, system, nodes } = await createFleet({ nodes: 2 })
  await createAlerts(system, nodes)
  await signIn(operator)
  await page.goto('/alerts')
  const row = page.getByRole('listitem').filter({ hasText: nodeName(0) })
  await row.getByRole('button', { name: t('alerts.acknowledgeName', { text: nodeName(0) }) }).click()
  await page.getByLabel(t('alerts.note')).fill('The rack is being moved.')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('alerts.acknowledge'), exact: true })
    .click()
  await expect(row.getByText(t('alerts.acknowledged'))).toBeVisible()
  await row.getByRole('button', { name: t('alerts.silenceName', { text: nodeName(0) }) }).click()
  await page.getByLabel(t('silences.reason')).fill('moving')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('silences.make'), exact: true })
    .click()
  await expect(page.getByRole('dialog')).toBeHidden()
  await page.goto('/alerts?tab=silences')
  await expect(page.getByText('moving')).toBeVisible()
  await expect(page.getByText(`name = ${nodeName(0)}`)).toBeVisible()
})
