import {
  agentEnrollmentTokens,
  createEnrollmentToken,
  drainAgent,
  drainAgentBlockedReason,
  resumeAgentBlockedReason,
  revokeEnrollmentTokenBlockedReason,
} from '@muster/core/agents'
import { eq } from 'drizzle-orm'
import { expect, test } from '../fixtures/test.ts'
import { nodeUrl } from '../fixtures/urls.ts'
import { t } from '../labels.ts'

/** A caller that emits no change events, so that an open page still shows the previous state. */
const unnoticed = <T extends object>(caller: T): T => ({ ...caller, notify: () => {} })

test('explains a blocked action and asks for the reason of a drain', async ({ page, createFleet, signIn }) => {
  const { operator, admin, nodes } = await createFleet({ nodes: 1 })
  const [node] = nodes
  const agent = { agentId: node!.name, state: 'ACTIVE', drainRequestedAt: null } as const
  await signIn(operator)
  await page.goto(`${nodeUrl(node!)}?tab=agent`)
  // A blocked button stays clickable and shows its reason.
  await page.getByRole('button', { name: t('agent.resume') }).click({ force: true })
  await expect(page.getByText(resumeAgentBlockedReason(operator.actor, agent)!).first()).toBeVisible()
  await page.getByRole('button', { name: t('agent.drainAction'), exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('nodeState.reason')).fill('a new disk')
  await drainAgent(unnoticed(admin), { nodeId: node!.id, reason: 'moved to another rack' })
  await dialog.getByRole('button', { name: t('agent.drainAction'), exact: true }).click()
  const conflict = drainAgentBlockedReason(operator.actor, { ...agent, drainRequestedAt: new Date(), slurmDrains: [] })
  await expect(dialog.getByText(conflict!)).toBeVisible()
  await page.reload()
  await expect(page.getByText('moved to another rack').first()).toBeVisible()
})

test('revokes an enrollment token, and reports one that was used meanwhile', async ({ page, createFleet, signIn }) => {
  const { operator, nodes } = await createFleet({ nodes: 1 })
  const used = await createEnrollmentToken(operator, { note: 'for the new rack' })
  await createEnrollmentToken(operator, { note: 'for the old rack' })
  await signIn(operator)
  await page.goto('/fleet?tab=enrollment')
  const revoke = async (note: string) => {
    const row = page.getByRole('listitem').filter({ hasText: note })
    await row.getByRole('button', { name: t('tokens.revoke') }).click()
    await dialog.getByRole('button', { name: t('tokens.revoke') }).click()
  }
  const dialog = page.getByRole('dialog')
  await expect(page.getByText('for the new rack')).toBeVisible()
  const usedAt = new Date()
  const { id } = used.enrollmentToken
  await operator.db
    .update(agentEnrollmentTokens)
    .set({ usedAt, usedByNodeId: nodes[0]!.id })
    .where(eq(agentEnrollmentTokens.id, id))
  await revoke('for the new rack')
  const conflict = revokeEnrollmentTokenBlockedReason(operator.actor, { ...used.enrollmentToken, usedAt })
  await expect(dialog.getByText(conflict!)).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
  await revoke('for the old rack')
  await expect(dialog).toBeHidden()
  await page.getByLabel(t('enrollmentToken.state')).selectOption(t('enrollmentToken.all'))
  await expect(page).toHaveURL(/tab=enrollment&tokens=all$/)
  await expect(page.getByText(t('enrollmentTokenState.REVOKED'), { exact: true })).toBeVisible()
  await expect(page.getByText(t('enrollmentTokenState.USED'), { exact: true })).toBeVisible()
})

test('shows an invalid setting at its field and sends only what was changed', async ({ page, createFleet, signIn }) => {
  const { admin } = await createFleet({ nodes: 0 })
  await signIn(admin)
  await page.goto('/settings/tokens')
  await page
    .getByRole('navigation', { name: t('nav.settings') })
    .getByRole('link', { name: t('nav.agentSettings') })
    .click()
  const sent: unknown[] = []
  page.on('request', (request) => {
    const body = request.method() === 'POST' ? request.postDataJSON() : null
    if (body?.query?.includes('updateAgentSettings')) sent.push(body.variables.input)
  })
  const stale = page.getByLabel(t('agentSettings.staleAfterSeconds'))
  await stale.fill('40')
  await page.getByRole('button', { name: t('common.save') }).click()
  await expect(page.getByRole('alert').filter({ hasText: '30' })).toBeVisible()
  await expect(stale).toHaveAttribute('aria-invalid', 'true')
  await stale.fill('90')
  await page.getByLabel(t('agentSettings.deregisterAfterDays')).fill('7')
  await page.getByRole('button', { name: t('common.save') }).click()
  await expect(page.getByText(t('agentSettings.saved'))).toBeVisible()
  expect(sent).toEqual([{ staleAfterSeconds: 40 }, { staleAfterSeconds: 90, deregisterAfterDays: 7 }])
  await page.reload()
  await expect(stale).toHaveValue('90')
})
