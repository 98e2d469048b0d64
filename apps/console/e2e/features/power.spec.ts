import { createCredential } from '@muster/core/credentials'
import { nodeBmcs, setNodeBmc, updateNode } from '@muster/core/nodes'
import {
  claimBmcDiscovery,
  claimPowerRun,
  finishBmcDiscovery,
  finishPowerRun,
  powerRuns,
  recordBmcReading,
  recordFoundBmcs,
  recordPowerCommand,
  recordPowerResult,
} from '@muster/core/power'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { expect, test } from '../fixtures/test.ts'
import { nodeUrl } from '../fixtures/urls.ts'
import { t } from '../labels.ts'

/** Ends the open power run of the tenant as a worker does: the last node refuses. */
async function finishRun({ system, worker }: TenantFixture): Promise<void> {
  const find = () => system.db.select().from(powerRuns).where(eq(powerRuns.tenantId, system.tenantId))
  await expect.poll(async () => (await find()).length).toBe(1)
  const claim = { id: (await find())[0]!.id, token: 'e2e' }
  const { items } = (await claimPowerRun(worker, claim))!
  for (const [i, { id: itemId }] of items.entries()) {
    await recordPowerCommand(worker, { ...claim, itemId, before: 'OFF', lastReset: null, command: 'Reset On' })
    const outcome =
      i === items.length - 1
        ? ({ result: 'REFUSED', after: 'OFF', message: 'The BMC does not support On.' } as const)
        : ({ result: 'DONE', after: 'ON', message: null } as const)
    await recordPowerResult(worker, { ...claim, itemId, ...outcome })
  }
  await finishPowerRun(worker, claim)
}

test('sets a BMC, pins the certificate that it presents, and shows what was read', async ({ page, createFleet, signIn }) => {
  const fleet = await createFleet({ nodes: 1, agents: false })
  const { admin, worker, nodes } = fleet
  await createCredential(admin, { name: 'bmcs', kind: 'BMC', username: 'admin', password: 'password' })
  await signIn(admin)
  await page.goto(`${nodeUrl(nodes[0]!)}?tab=power`)
  await page.getByRole('button', { name: t('bmc.set') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('bmc.address')).fill('10.9.1.1')
  await dialog.getByLabel(t('bmc.credential'), { exact: true }).selectOption({ label: 'bmcs (admin)' })
  await dialog.getByRole('button', { name: t('common.save') }).click()
  await expect(page.getByTestId('power-state')).toHaveAttribute('data-state', 'UNKNOWN')

  const [bmc] = await fleet.system.db.select().from(nodeBmcs).where(eq(nodeBmcs.nodeId, nodes[0]!.id))
  const offeredFingerprint = 'ab'.repeat(32)
  await recordBmcReading(worker, bmc!.id, { error: 'The BMC 10.9.1.1 presents an untrusted certificate.', offeredFingerprint })
  await expect(page.getByText('presents an untrusted certificate')).toBeVisible()
  await page.getByRole('button', { name: t('bmc.pin') }).click()
  await expect(page.getByText(t('bmc.pinned'))).toBeVisible()
  const macs = ['02:00:5e:10:00:01']
  const inventory = {
    ...{
      manufacturer: 'Example',
      model: 'R1',
      serial: 'S-1',
      uuid: null,
      biosVersion: '2.1',
      bmcModel: null,
      bmcFirmware: '7.0',
    },
    ...{ cpuModel: null, cpuCount: 2, memoryBytes: 549_755_813_888, macs, systemPaths: [] },
  }
  await recordBmcReading(worker, bmc!.id, {
    state: 'ON',
    details: {
      inventory,
      sensors: [{ name: 'Fan 3', kind: 'Fan', value: 0, unit: 'RPM', health: 'Critical' }],
      events: [{ id: '1', at: '2026-11-20T10:00:00.000Z', severity: 'Critical', message: 'Fan 3 lost' }],
    },
  })
  await expect(page.getByTestId('power-state')).toHaveAttribute('data-state', 'ON')
  await expect(page.getByText('S-1')).toBeVisible()
  await expect(page.getByText('Fan 3 lost')).toBeVisible()
})

test('powers selected nodes on, with their names before and the result of each one after', async ({
  page,
  createFleet,
  signIn,
}) => {
  const fleet = await createFleet({ nodes: 3, agents: false })
  const { admin, nodes } = fleet
  const { id: credentialId } = await createCredential(admin, {
    name: 'bmcs',
    kind: 'BMC',
    username: 'admin',
    password: 'password',
  })
  for (const [i, { id: nodeId }] of nodes.slice(0, 2).entries())
    await setNodeBmc(admin, { nodeId, address: `10.9.2.${i + 1}`, credentialId })
  await signIn(admin)
  await page.goto('/nodes')
  for (const { name } of nodes) await page.getByRole('checkbox', { name: new RegExp(name) }).check()
  const menu = page.getByRole('toolbar').getByRole('button', { name: t('power.menu'), exact: true })
  await menu.click()
  await page.getByRole('menuitem', { name: t('powerAction.ON') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('power.reason')).fill('after maintenance')
  await expect(dialog.getByText(`The node ${nodes[2]!.name} has no BMC.`)).toBeVisible()
  await expect(dialog.getByText(t('power.blocked', { count: 1 }))).toBeVisible()

  await setNodeBmc(admin, { nodeId: nodes[2]!.id, address: '10.9.2.3', credentialId })
  await dialog.getByLabel(t('power.parallelism')).fill('2')
  const start = (count: number) => dialog.getByRole('button', { name: t('power.start', { action: t('powerAction.ON'), count }) })
  await expect(start(3)).toBeEnabled()
  await expect(dialog.getByText('has no BMC')).toHaveCount(0)
  await start(3).click()
  await finishRun(fleet)
  await expect(dialog.getByTestId('power-run')).toHaveAttribute('data-status', 'PARTIAL')
  await expect(dialog.getByText('The BMC does not support On.')).toBeVisible()

  // The run has a page, from which the failed node is tried again.
  await dialog.getByRole('link', { name: t('powerRun.open') }).click()
  await expect(page.getByTestId('power-run')).toHaveAttribute('data-status', 'PARTIAL')
  await page.getByRole('button', { name: t('powerRun.retry', { count: 1 }) }).click()
  await dialog.getByLabel(t('power.reason')).fill('after a new firmware of the BMC')
  await dialog.getByRole('button', { name: t('power.start', { action: t('powerAction.ON'), count: 1 }) }).click()
  await expect(dialog.getByTestId('power-run')).toHaveAttribute('data-status', 'PENDING')
  await expect(dialog.getByText(nodes[2]!.name)).toBeVisible()
  await dialog
    .getByRole('button', { name: t('common.close'), exact: true })
    .last()
    .click()
  await page.getByRole('link', { name: t('powerRun.title') }).click()
  await expect(page.getByTestId('power-run')).toHaveCount(2)
})

test('discovers BMCs, and assigns them to nodes with approved certificates', async ({ page, createFleet, signIn }) => {
  const fleet = await createFleet({ nodes: 2, agents: false })
  const { admin, worker, system, nodes } = fleet
  await createCredential(admin, { name: 'bmcs', kind: 'BMC', username: 'admin', password: 'password' })
  await updateNode(admin, { id: nodes[0]!.id, interfaces: [{ name: 'eth0', mac: '02:00:5e:10:00:01' }] })
  await signIn(admin)
  await page.goto('/power/discoveries')
  await page.getByRole('button', { name: t('bmcDiscovery.new') }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('bmcDiscovery.addresses')).fill('10.9.9.0/33')
  await dialog.getByRole('button', { name: t('bmcDiscovery.start') }).click()
  await expect(dialog.getByText('is not an IPv4 network')).toBeVisible()
  await dialog.getByLabel(t('bmcDiscovery.addresses')).fill('10.9.9.1-2')
  await dialog.getByRole('button', { name: t('bmcDiscovery.start') }).click()
  await expect(page.getByTestId('bmc-discovery')).toHaveAttribute('data-status', 'PENDING')

  const { bmcDiscoveries } = schema
  const [discovery] = await system.db.select().from(bmcDiscoveries).where(eq(bmcDiscoveries.tenantId, system.tenantId))
  const claim = { id: discovery!.id, token: 'e2e' }
  await claimBmcDiscovery(worker, claim)
  const nothing = { manufacturer: null, model: null, serial: null, uuid: null, biosVersion: null, bmcModel: null }
  const more = { bmcFirmware: null, cpuModel: null, cpuCount: null, memoryBytes: null, systemPaths: [] }
  const found = (i: number) => ({
    ...{ address: `10.9.9.${i}`, fingerprint: `${i}a`.repeat(32), product: 'Example', message: null },
    systems: [{ path: '', inventory: { ...nothing, ...more, macs: [`02:00:5e:10:00:0${i}`] }, state: 'ON' as const }],
  })
  await recordFoundBmcs(worker, { ...claim, probed: 2, found: [found(1), found(2)] })
  await finishBmcDiscovery(worker, { ...claim, error: null })
  await expect(page.getByTestId('bmc-discovery')).toHaveAttribute('data-status', 'SUCCEEDED')
  await expect(page.getByText(t('bmcDiscovery.noNode'))).toBeVisible()

  for (const i of [1, 2]) await page.getByLabel(t('bmcDiscovery.select', { address: `10.9.9.${i}` })).check()
  await page.getByRole('button', { name: t('bmcDiscovery.assign', { count: 2 }) }).click()
  await dialog.getByLabel(t('bmc.credential'), { exact: true }).selectOption({ label: 'bmcs (admin)' })
  await expect(dialog.getByText(t('bmcDiscovery.needNodes', { count: 1 }))).toBeVisible()
  await dialog.getByLabel(t('bmcDiscovery.nodeOf', { address: '10.9.9.2' })).fill('nobody')
  await dialog.getByLabel(t('bmcDiscovery.approve', { count: 2 })).check()
  await dialog.getByRole('button', { name: t('bmcDiscovery.assign', { count: 2 }) }).click()
  await expect(dialog.getByText(t('unknownMachine.noNode', { name: 'nobody' }))).toBeVisible()
  await dialog.getByLabel(t('bmcDiscovery.nodeOf', { address: '10.9.9.2' })).fill(nodes[1]!.name)
  await dialog.getByRole('button', { name: t('bmcDiscovery.assign', { count: 1 }) }).click()
  await expect(dialog).toHaveCount(0)
  const bmcs = await system.db.select().from(nodeBmcs).where(eq(nodeBmcs.tenantId, system.tenantId)).orderBy(nodeBmcs.address)
  expect(bmcs).toMatchObject([
    { nodeId: nodes[0]!.id, address: '10.9.9.1', fingerprint: '1a'.repeat(32) },
    { nodeId: nodes[1]!.id, address: '10.9.9.2', fingerprint: '2a'.repeat(32) },
  ])
})
