import { readFile } from 'node:fs/promises'
import { auditEntries, sealAuditEntries } from '@muster/core/audit'
import { updateNode } from '@muster/core/nodes'
import { and, eq } from 'drizzle-orm'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('filters in the URL, shows what changed, verifies and exports', async ({ page, createFleet, signIn, installation }) => {
  const { admin, operator, nodes, tenant } = await createFleet({ nodes: 2, agents: false })
  const [node, other] = [nodes[0]!, nodes[1]!]
  for (const { id } of [node, other]) await updateNode({ ...operator, attempt: {} }, { id, notes: `notes of ${id}` })
  await sealAuditEntries(installation.runtime)
  await signIn(admin)

  await page.goto('/settings/audit')
  const rows = page.getByRole('list', { name: t('nav.audit') }).getByRole('listitem')
  await expect(rows.filter({ hasText: 'tenant.create' })).toBeVisible()
  await page.getByLabel(t('audit.channel')).selectOption('CONSOLE')
  await expect(rows.filter({ hasText: 'tenant.create' })).toHaveCount(0)
  await page.getByLabel(t('audit.channel')).selectOption('')
  await page.getByLabel(t('audit.action')).selectOption('node.update')
  await expect(page).toHaveURL(/action=node\.update/)
  await expect(rows).toHaveCount(2)
  await page.getByLabel(t('audit.search')).fill(node.name)
  await expect(rows).toHaveCount(1)
  await page.reload()
  await expect(rows).toHaveCount(1)

  await rows.getByRole('button', { name: 'node.update' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('insertion')).toHaveText(`+ notes of ${node.id}`)
  await dialog.getByRole('button', { name: t('audit.sameObject') }).click()
  await expect(page).toHaveURL(/object=/)
  await expect(rows.filter({ hasText: 'node.update' })).toHaveCount(1)
  await page.getByRole('button', { name: t('filter.clearAll') }).click()
  await expect(rows.filter({ hasText: 'tenant.create' })).toBeVisible()

  const verify = page.getByRole('button', { name: t('audit.verify') })
  const result = page.getByRole('status')
  await verify.click()
  await expect(result).toContainText('no problems')
  // The sign-in is not sealed: no worker runs.
  await expect(result).toContainText('not sealed yet')

  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: t('audit.export') }).click()
  const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).action).filter((action) => action === 'node.update')).toHaveLength(2)

  const inTenant = and(eq(auditEntries.tenantId, tenant.id), eq(auditEntries.objectId, node.id))
  const [changed] = await installation.runtime.db.update(auditEntries).set({ actorName: 'Eve' }).where(inTenant).returning()
  await verify.click()
  await expect(result).toContainText(t('auditProblem.CHANGED', { first: String(changed!.seq) }))
})

test('shows why an operator may not read it', async ({ page, createFleet, signIn }) => {
  const { operator } = await createFleet({ nodes: 0 })
  await signIn(operator)
  await page.goto('/settings/audit')
  await expect(page.getByRole('heading', { name: t('audit.forbidden') })).toBeVisible()
  await expect(
    page
      .getByText(/operator/)
      .filter({ visible: true })
      .first(),
  ).toBeVisible()
  await expect(page.getByRole('button', { name: t('audit.verify') })).toBeHidden()
})

test('shows installation administrators the entries without a tenant', async ({ page, createFleet, signIn, installation }) => {
  const { installationAdmin, admin } = await createFleet({ nodes: 0 })
  const failed = { actorKind: 'anonymous', actorName: 'not signed in', action: 'session.create', outcome: 'failed' } as const
  await installation.runtime.db.insert(auditEntries).values([
    { ...failed, objectName: 'grace@site.test' },
    { ...failed, objectName: 'member@site.test', tenantId: admin.tenantId },
  ])
  const rows = page.getByRole('list', { name: t('nav.audit') }).getByRole('listitem')
  await signIn(installationAdmin)
  await page.goto('/settings/audit')
  await expect(rows.filter({ hasText: 'member@site.test' })).toBeVisible()
  await page.getByLabel(t('audit.scope')).selectOption(t('audit.scopeInstallation'))
  await expect(rows.filter({ hasText: 'grace@site.test' }).first()).toBeVisible()
  await expect(rows.filter({ hasText: 'member@site.test' })).toHaveCount(0)

  await signIn(admin)
  await page.goto('/settings/audit?scope=installation')
  await expect(rows.filter({ hasText: 'member@site.test' })).toBeVisible()
  await expect(page.getByLabel(t('audit.scope'))).toBeHidden()
})
