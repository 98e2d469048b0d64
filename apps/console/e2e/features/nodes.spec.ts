import { accelerators, computeNodes, updateNode } from '@muster/core/nodes'
import { insertRun, makeHostKey } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { recordConnectionTests } from '../fixtures/connection-worker.ts'
import { createAlerts } from '../fixtures/scenes/alerts.ts'
import { nodeName } from '../fixtures/scenes/fleet.ts'
import { expect, test } from '../fixtures/test.ts'
import { globalId, nodeUrl, runUrl } from '../fixtures/urls.ts'
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
  await signIn(fleet.admin)
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

test('preselects no host keys, and selects all new but no changed keys at once', async ({ page, createFleet, signIn }) => {
  const fleet = await createFleet({ nodes: 5, agents: false })
  const { db } = fleet.system
  const fresh = { hostKey: null, hostKeyApprovedAt: null, readyAt: null, lastSeenAt: null }
  const changed = fleet.nodes[4]!
  for (const { id } of fleet.nodes.slice(0, 4)) await db.update(computeNodes).set(fresh).where(eq(computeNodes.id, id))
  const offered = { offeredHostKey: makeHostKey(), offeredHostKeyAt: new Date() }
  await db.update(computeNodes).set(offered).where(eq(computeNodes.id, changed.id))
  await signIn(fleet.admin)
  await page.goto('/nodes')
  await page.getByRole('button', { name: t('nodes.setUp') }).click()
  await expect(page).toHaveURL(/step=test/)
  await recordConnectionTests(fleet, 5)
  await expect(page.getByText(t('hostKey.waiting', { count: 3 }))).toBeVisible()
  await page.getByRole('button', { name: t('hostKey.review') }).click()
  const dialog = page.getByRole('dialog')
  const changedKey = dialog.getByRole('checkbox', { name: new RegExp(`${changed.name}.*${t('hostKey.changedShort')}`) })
  await expect(changedKey).toBeVisible()
  await expect(dialog.getByRole('checkbox', { checked: true })).toHaveCount(0)
  const approve = (count: number) => dialog.getByRole('button', { name: t('hostKey.approveCount', { count }) })
  await expect(approve(0)).toHaveAttribute('aria-disabled', 'true')
  await dialog.getByLabel(t('hostKey.allNew', { count: 2 })).check()
  await expect(dialog.getByRole('checkbox', { checked: true })).toHaveCount(3)
  await expect(changedKey).not.toBeChecked()
  await approve(2).click()
  await expect(dialog).toBeHidden()
  const rows = await db.select().from(computeNodes).where(eq(computeNodes.tenantId, fleet.system.tenantId))
  const approved = rows.filter((row) => row.hostKeyApprovedAt && row.hostKey !== changed.hostKey).map(({ name }) => name)
  expect(approved.sort()).toEqual([nodeName(0), nodeName(1)])
  expect(rows.find(({ id }) => id === changed.id)!.hostKey).toBe(changed.hostKey)
})

test('adds a local node without a credential, and an SSH node with region and data center', async ({
  page,
  createFleet,
  signIn,
}) => {
  const { admin, system, sshKey } = await createFleet({ nodes: 0 })
  const added = () =>
    system.db
      .select({
        name: computeNodes.name,
        host: computeNodes.host,
        port: computeNodes.port,
        connectionType: computeNodes.connectionType,
        credentialId: computeNodes.credentialId,
        region: computeNodes.region,
        datacenter: computeNodes.datacenter,
      })
      .from(computeNodes)
      .where(eq(computeNodes.tenantId, system.tenantId))
      .orderBy(computeNodes.id)
  const credential = page.getByLabel(t('node.credential'), { exact: true })
  const chooseKey = () => credential.selectOption({ label: t('credential.option', { name: 'fleet key', user: 'ansible' }) })
  const add = async () => {
    await page.getByRole('button', { name: t('wizard.addAndTest') }).click()
    await expect(page).toHaveURL(/step=test&nodes=/)
  }
  await signIn(admin)
  await page.goto('/nodes/add')
  await page.getByLabel(t('node.host')).fill('localhost')
  await expect(page.getByText(t('wizard.needName'))).toBeVisible()
  await page.getByLabel(t('nodes.name'), { exact: true }).fill('login1')
  await expect(page.getByText(t('wizard.needCredential'))).toBeVisible()
  // The settings of SSH do not apply to a local node.
  await chooseKey()
  await page.getByLabel(t('node.connectionType')).selectOption('LOCAL')
  await expect(credential).toBeHidden()
  await add()
  const local = { name: 'login1', host: 'localhost', port: 22, connectionType: 'local' }
  const nowhere = { credentialId: null, region: null, datacenter: null }
  expect(await added()).toEqual([{ ...local, ...nowhere }])

  await page.goto('/nodes/add')
  await page.getByLabel(t('node.host')).fill('gpu1.rack.example')
  await page.getByLabel(t('node.port'), { exact: true }).fill('2222')
  await chooseKey()
  await page.getByLabel(t('filter.region')).fill('ap-south')
  await page.getByLabel(t('filter.datacenter')).fill('hall 3')
  await add()
  const remote = { name: 'gpu1', host: 'gpu1.rack.example', port: 2222, connectionType: 'ssh', credentialId: sshKey.id }
  expect(await added()).toEqual([
    { ...local, ...nowhere },
    { ...remote, region: 'ap-south', datacenter: 'hall 3' },
  ])
})

test('edits the region and data center of a node, and makes it local without an SSH user, credential and bastion', async ({
  page,
  createFleet,
  installation,
  signIn,
}) => {
  const { admin, operator, system, nodes, sshKey } = await createFleet({ nodes: 2, agents: false })
  const [node] = nodes
  const bastion = await installation.given.credential(admin, 'BASTION')
  await system.db.update(computeNodes).set({ bastionId: bastion.id }).where(eq(computeNodes.id, node!.id))
  const read = async () => {
    const fields = 'connectionType region datacenter port sshUser credential { name } bastion { name }'
    const query = `query ($id: ID!) { node(id: $id) { ... on ComputeNode { ${fields} } } }`
    const variables = { id: globalId('ComputeNode', node!.id) }
    const response = await page.request.post('/graphql', { data: { query, variables } })
    return (await response.json()).data.node
  }
  const dialog = page.getByRole('dialog')
  const edit = async () => {
    await page.goto(nodeUrl(node!))
    await page
      .getByRole('button', { name: t('node.more') })
      .filter({ visible: true })
      .click()
    await page.getByRole('menuitem', { name: t('node.edit') }).click()
    await expect(dialog.getByLabel(t('node.connectionType'))).toHaveValue('SSH')
  }
  await signIn(operator)
  await edit()
  await dialog.getByLabel(t('filter.region')).fill('ap-south')
  await dialog.getByLabel(t('filter.datacenter')).fill('x'.repeat(65))
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(dialog.getByLabel(t('filter.datacenter'))).toHaveAttribute('aria-invalid', 'true')
  await dialog.getByLabel(t('filter.datacenter')).fill('')
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(dialog).toBeHidden()
  const place = { region: 'ap-south', datacenter: null, port: 22 }
  const access = { sshUser: 'ops', credential: { name: sshKey.name }, bastion: { name: bastion.name } }
  expect(await read()).toEqual({ connectionType: 'SSH', ...place, ...access })
  await expect(page.getByText('ap-south')).toBeVisible()
  await edit()
  await dialog.getByLabel(t('node.connectionType')).selectOption('LOCAL')
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(dialog.getByRole('alert').first()).toContainText('admin')
  await signIn(admin)
  await edit()
  await dialog.getByLabel(t('node.connectionType')).selectOption('LOCAL')
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(dialog).toBeHidden()
  expect(await read()).toEqual({ connectionType: 'LOCAL', ...place, sshUser: null, credential: null, bastion: null })
})

test('shows the reason for the health of an accelerator', async ({ page, createFleet, signIn }) => {
  const { operator, system, nodes } = await createFleet({ nodes: 1, agents: false })
  const { db } = system
  const [device] = await db.select().from(accelerators).where(eq(accelerators.nodeId, nodes[0]!.id)).limit(1)
  const reason = 'Row remapping is pending.'
  await db.update(accelerators).set({ health: 'warning', healthReason: reason }).where(eq(accelerators.id, device!.id))
  await signIn(operator)
  await page.goto(`${nodeUrl(nodes[0]!)}?tab=accelerators`)
  const row = page.getByRole('row').filter({ hasText: reason })
  await expect(row).toHaveCount(1)
  await expect(row).toContainText(t('health.WARNING'))
  await row.getByRole('button').click()
  await expect(page.getByRole('dialog')).toContainText(reason)
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
  await expect(dialog.getByText(t('bulk.rejected', { count: 1, done: 1 }))).toBeVisible()
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

test('filters nodes by their overall health', async ({ page, createFleet, signIn }) => {
  const { operator, system, nodes } = await createFleet({ nodes: 3, agents: false })
  const { db, tenantId } = system
  await db.update(accelerators).set({ health: 'ok' }).where(eq(accelerators.tenantId, tenantId))
  await db.update(accelerators).set({ health: 'lost' }).where(eq(accelerators.nodeId, nodes[1]!.id))
  await signIn(operator)
  await page.goto('/nodes')
  const rows = page.getByRole('list', { name: t('nav.nodes') }).getByRole('listitem')
  await expect(rows).toHaveCount(3)
  await page.getByRole('button', { name: t('filter.open') }).click()
  const unhealthy = page.getByRole('checkbox', { name: t('nodeHealth.UNHEALTHY') })
  await expect(page.locator('label').filter({ has: unhealthy })).toHaveText(`${t('nodeHealth.UNHEALTHY')}1`)
  await unhealthy.click()
  await expect(page).toHaveURL(/health=UNHEALTHY/)
  await expect(rows).toHaveCount(1)
  await expect(rows.getByRole('link', { name: nodeName(1) })).toBeVisible()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: new RegExp(`${t('filter.remove')}\\s*${t('filter.health')}`) }).click()
  await expect(rows).toHaveCount(3)
})

test('shows the overall health of nodes in the hosts of a run and in an alert', async ({ page, createFleet, signIn }) => {
  const { operator, system, nodes } = await createFleet({ nodes: 2, agents: false })
  const { db, tenantId } = system
  await db.update(accelerators).set({ health: 'ok' }).where(eq(accelerators.tenantId, tenantId))
  const unreachable = { unreachableSince: new Date(), unreachableReason: 'Connection refused.' }
  await db.update(computeNodes).set(unreachable).where(eq(computeNodes.id, nodes[0]!.id))
  const run = await insertRun(operator, { status: 'PARTIAL', nodes })
  await createAlerts(system, nodes.slice(0, 1))
  await signIn(operator)
  await page.goto(`${runUrl(run)}?tab=hosts`)
  const healthOf = (i: number) =>
    page
      .getByRole('region', { name: t('runs.recap') })
      .locator('span')
      .filter({ has: page.getByRole('link', { name: nodeName(i) }) })
      .getByTestId('node-health')
  await expect(healthOf(0)).toHaveText(t('nodeHealth.UNHEALTHY'))
  await expect(healthOf(0).locator('[title]')).toHaveAttribute('title', 'Connection refused.')
  await expect(healthOf(1)).toHaveText(t('nodeHealth.HEALTHY'))
  await page.goto('/alerts')
  const alert = page.getByRole('listitem').filter({ hasText: nodeName(0) })
  await expect(alert.getByTestId('node-health')).toHaveText(t('nodeHealth.UNHEALTHY'))
  await page.getByRole('button', { name: new RegExp(`^${nodeName(0)} `) }).click()
  await expect(page.getByRole('dialog').getByTestId('node-health')).toHaveText(`${t('nodeHealth.UNHEALTHY')}Connection refused.`)
})

test('edits xname, NID and interfaces of a node, with errors at their fields', async ({ page, createFleet, signIn }) => {
  const { operator, nodes } = await createFleet({ nodes: 2, agents: false })
  const [node, other] = nodes
  await updateNode(operator, { id: other!.id, interfaces: [{ name: 'eth0', mac: '02:00:5e:10:00:02' }] })
  await signIn(operator)
  await page.goto(nodeUrl(node!))
  await page
    .getByRole('button', { name: t('node.more') })
    .filter({ visible: true })
    .click()
  await page.getByRole('menuitem', { name: t('node.edit') }).click()
  const dialog = page.getByRole('dialog')
  const save = () => dialog.getByRole('button', { name: t('common.save') }).click()
  const field = (label: string) => dialog.getByLabel(new RegExp(`^${label}( ?${t('common.optional')})?$`))
  await field(t('node.xname')).fill('X1000c08s03b0n0')
  await field(t('node.nid')).fill('7')
  await dialog.getByRole('button', { name: t('node.addInterface') }).click()
  await field(t('node.interfaceName')).fill('eth0')
  await field(t('node.mac')).fill('no MAC')
  await field(t('node.interfaceAddresses')).fill('10.1.0.7@mgmt, 10.1.0.256')
  await save()
  await expect(field(t('node.mac'))).toHaveAttribute('aria-invalid', 'true')
  await expect(field(t('node.interfaceAddresses'))).toHaveAttribute('aria-invalid', 'true')
  await field(t('node.mac')).fill('02005E100002')
  await field(t('node.interfaceAddresses')).fill('10.1.0.7@mgmt')
  await save()
  await expect(dialog.getByText(`The node ${other!.name} (READY) already has an interface`)).toBeVisible()
  await field(t('node.mac')).fill('02-00-5E-10-00-07')
  await save()
  await expect(dialog).toBeHidden()
  await expect(page.getByText('x1000c8s3b0n0')).toBeVisible()
  await expect(
    page.getByText(t('node.xnameRejected', { rejection: 'hms-xname (SMD, BSS): the chassis is above 7' })),
  ).toBeVisible()
  await expect(page.getByText('eth0 · 02:00:5e:10:00:07 · 10.1.0.7@mgmt')).toBeVisible()
})
