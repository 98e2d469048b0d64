import type { Page } from '@playwright/test'
import { finishOperation, finishReadinessCheck } from '../fixtures/slurm-worker.ts'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

const CONF = `ClusterName=made
SlurmctldHost=gpu00001
GresTypes=gpu
NodeName=gpu[00002-00003] CPUs=128 RealMemory=2000000
PartitionName=batch Nodes=ALL Default=YES State=UP
`

/** Tests that an open dialog causes no sideways scrolling; SHOTS_DIR takes pictures. */
async function fitsScreens(page: Page, name: string): Promise<void> {
  for (const [screen, width, colorScheme] of [
    ['phone', 390, 'light'],
    ['dark', 1360, 'dark'],
    ['light', 1360, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 1100 })
    await page.emulateMedia({ colorScheme })
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    await expect.poll(overflow, `${name} ${screen}`).toBeLessThanOrEqual(0)
    if (process.env.SHOTS_DIR) await page.screenshot({ path: `${process.env.SHOTS_DIR}/slurm-${name}-${screen}.png` })
  }
}

test('creates a managed cluster after a check of its nodes, and adds a node', async ({ page, createFleet, signIn }) => {
  const fleet = await createFleet({ nodes: 5 })
  await signIn(fleet.admin)
  await page.goto('/slurm/clusters/new')
  const field = (label: string) => page.getByLabel(new RegExp(`^${label}(${t('common.optional')})?$`))
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await expect(button(t('slurmScale.createStart'))).toHaveAttribute('aria-disabled', 'true')
  await field(t('slurmConnect.name')).fill('made')
  await field(t('slurm.region')).fill('eu')
  await field(t('slurm.controllerNode')).fill('gpu00001')
  await field(t('slurmScale.compute')).fill('gpu[00002-00004]')
  await field(t('slurmScale.repository')).fill('https://packages.example.org/slurm')
  await field(t('slurmScale.repositoryKey')).fill('https://packages.example.org/key.asc')
  await field(t('slurmAction.reason')).fill('A cluster for the lab')
  await button(t('slurmScale.check')).click()
  await finishReadinessCheck(fleet, ['gpu00004'])
  const check = page.getByRole('list', { name: t('slurmScale.check') })
  await expect(check.getByRole('listitem').filter({ hasText: 'gpu00004' })).toContainText('munged does not run')

  await field(t('slurmScale.prefix')).fill('/opt/slurm')
  await expect(page.getByRole('alert').filter({ hasText: t('slurmScale.needRecheck') })).toBeVisible()
  await expect(button(t('slurmScale.createStart'))).toHaveAttribute('aria-disabled', 'true')
  await field(t('slurmScale.prefix')).fill('')
  await button(t('slurmScale.createStart')).click()
  await expect(page).toHaveURL(/\?tab=operations$/)
  await expect(page.getByRole('heading', { name: 'made', exact: true })).toBeVisible()
  await finishOperation(fleet, CONF)

  await page.reload()
  await button(t('slurmScale.out')).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('slurmScale.nodes'), { exact: true }).fill('gpu[00004-00005]')
  await dialog.getByLabel(t('slurmAction.reason'), { exact: true }).fill('More nodes')
  await dialog.getByRole('button', { name: t('slurmScale.check'), exact: true }).click()
  await finishReadinessCheck(fleet, ['gpu00004'])
  await expect(dialog.getByText(t('slurmScale.isLeftOut'), { exact: true })).toBeVisible()
  await expect(dialog).toContainText('NodeName=gpu00005')
  await fitsScreens(page, 'scale-out')
  await dialog.getByRole('button', { name: t('slurmScale.outStart', { count: 1 }), exact: true }).click()
  await expect(dialog.getByTestId('slurm-operation')).toHaveAttribute('data-status', 'PENDING')

  await finishOperation(fleet, CONF.replace('00003]', '00003,00005]'))
  await page.reload()
  await button(t('slurmScale.in')).click()
  await dialog.getByLabel(t('slurmScale.slurmNodes'), { exact: true }).first().fill('gpu[00003-00004]')
  await dialog.getByLabel(t('slurmAction.reason'), { exact: true }).fill('Repair')
  await expect(dialog).toContainText('has no node gpu00004')
  await dialog.getByLabel(t('slurmScale.slurmNodes'), { exact: true }).first().fill('gpu00003')
  await expect(dialog).toContainText('+ NodeName=gpu00002,gpu00005 ')
  await fitsScreens(page, 'scale-in')
  await dialog.getByRole('button', { name: t('slurmScale.inStart', { names: 'gpu00003' }), exact: true }).click()
  await expect(dialog.getByTestId('slurm-operation')).toHaveAttribute('data-status', 'PENDING')

  await finishOperation(fleet, CONF.replace('[00002-00003]', '[00002,00005]'))
  await page.reload()
  await button(t('slurmPower.open')).click()
  await dialog.getByLabel(t('slurmPower.apiUrl'), { exact: true }).fill('http://muster.example.org')
  await dialog.getByLabel(t('slurmAction.reason'), { exact: true }).fill('Save power')
  await expect(dialog).toContainText('must be an https:// address')
  await dialog.getByLabel(t('slurmPower.apiUrl'), { exact: true }).fill('https://muster.example.org')
  // No node was read from the controller yet.
  await expect(dialog.getByRole('list', { name: t('slurmPower.excluded') })).toContainText('gpu00005')
  await expect(dialog).toContainText('SuspendExcNodes=gpu[00002,00005]')
  await expect(dialog.getByRole('button', { name: t('slurmPower.turnOn'), exact: true })).toHaveAttribute('aria-disabled', 'true')
  await fitsScreens(page, 'power-saving')
  await page.keyboard.press('Escape')

  await button(t('slurm.edit')).click()
  await dialog.getByLabel(t('slurmrestd.source'), { exact: true }).selectOption('URL')
  await expect(dialog.getByRole('combobox', { name: new RegExp(t('slurmScale.salt')) })).toBeVisible()
  await fitsScreens(page, 'edit')
})
