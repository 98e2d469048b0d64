import { expect, type Page, test } from '@playwright/test'
import type { Product } from './fixtures/product.ts'
import { t } from './labels.ts'

type Context = { product: Product; page: Page }

/**
 * The scenarios of external clusters, in order, against the lab's real Slurm cluster. The installation has no nodes yet: the controller
 * joins the inventory while its cluster is connected.
 */
export function testExternalClusters(context: () => Context): void {
  const page = () => context().page
  const slurm = () => context().product.lab.slurm!
  const open = (path: string) => page().goto(new URL(path, context().product.url).href)
  const button = (name: string | RegExp) => page().getByRole('button', { name, exact: true })
  const field = (label: string) => page().getByLabel(label, { exact: true })
  const cluster = (name: string) => page().getByTestId('slurm-cluster').filter({ hasText: name })
  const fill = async (name: string, address: string) => {
    await field(t('slurmConnect.name')).fill(name)
    await field(t('slurmConnect.address')).fill(address)
    // Slurm's operators may drain nodes; root is one.
    await page().getByLabel(t('slurmConnect.user')).fill('root')
    await field(t('node.credential')).selectOption({ label: 'lab key (ops)' })
  }

  test('shows how to connect an external cluster when there is none', async () => {
    await open('/slurm/clusters')
    await expect(page().getByRole('heading', { name: t('slurm.emptyTitle') })).toBeVisible()
    await page()
      .getByRole('link', { name: t('slurm.addExternal') })
      .first()
      .click()
    await expect(page().getByRole('form', { name: t('slurmConnect.formTitle') })).toBeVisible()
  })

  test('requires name, address and credential, and a test before a cluster is added', async () => {
    await expect(button(t('slurmConnect.test'))).toHaveAttribute('aria-disabled', 'true')
    await expect(page().getByText(t('slurmConnect.needName'), { exact: true })).toBeVisible()
    await field(t('slurmConnect.name')).fill('lab')
    await expect(page().getByText(t('slurmConnect.needAddress'), { exact: true })).toBeVisible()
    await field(t('slurmConnect.address')).fill('192.0.2.1')
    await expect(page().getByText(t('slurmConnect.needCredential'), { exact: true })).toBeVisible()
    await expect(button(t('slurmConnect.add'))).toHaveAttribute('aria-disabled', 'true')
  })

  test('protects the configuration of the cluster unless the user decides otherwise', async () => {
    await expect(field(t('slurmConfig.reuse'))).toBeChecked()
    await field(t('slurmConfig.reuse')).uncheck()
  })

  test('resets the form', async () => {
    await button(t('slurmConnect.reset')).click()
    await expect(field(t('slurmConnect.name'))).toHaveValue('')
    await expect(field(t('slurmConnect.address'))).toHaveValue('')
    await expect(field(t('slurmConfig.reuse'))).toBeChecked()
  })

  test('says at the field why SSH refuses the address, and uses the corrected one', async () => {
    const [controller] = slurm().controllers
    await fill('lab', controller!.host)
    await field(t('slurmConnect.port')).fill('1')
    await button(t('slurmConnect.test')).click()
    await expect(field(t('slurmConnect.address'))).toHaveAccessibleDescription(/refuse/i, { timeout: 60_000 })
    await expect(button(t('slurmConnect.add'))).toHaveAttribute('aria-disabled', 'true')
    await field(t('slurmConnect.port')).fill('')
    await expect(field(t('slurmConnect.address'))).not.toHaveAccessibleDescription(/refuse/i)
  })

  test('tests the SSH connection, asks for the host key, and shows each command of Slurm with a preview', async () => {
    const [controller] = slurm().controllers
    await fill('lab', controller!.host)
    await button(t('slurmConnect.test')).click()
    await button(t('hostKey.review')).click()
    const dialog = page().getByRole('dialog')
    await expect(dialog.getByText(controller!.hostKeyFingerprint)).toBeVisible()
    await dialog.getByRole('checkbox').check()
    await dialog.getByRole('button', { name: t('hostKey.approveCount', { count: 1 }) }).click()
    await expect(page().getByRole('heading', { name: t('slurmConnect.preview') })).toBeVisible({ timeout: 60_000 })
    await expect(page().locator('[data-query=version]')).toContainText('22.05')
    await expect(page().locator('[data-query=controllers]')).toHaveAttribute('data-state', 'OK')
  })

  test('adds the cluster and shows its nodes and jobs', async () => {
    await button(t('slurmConnect.add')).click()
    await expect(cluster('lab')).toHaveAttribute('data-state', 'OK', { timeout: 60_000 })
    await expect(cluster('lab')).toContainText('22.05')
    await cluster('lab').getByRole('link', { name: 'lab' }).click()
    await page()
      .getByRole('tab', { name: t('slurm.nodes') })
      .click()
    for (const { name } of slurm().compute) await expect(button(name)).toBeVisible()
  })

  test('drains a node with a reason after a preview, and resumes it', async () => {
    const [node] = slurm().compute
    const act = async (verb: 'DRAIN_NODES' | 'RESUME_NODES') => {
      await page()
        .getByRole('checkbox', { name: t('nodes.select', { name: node!.name }) })
        .check()
      await button(t('slurmAction.actions')).click()
      await page()
        .getByRole('menuitem', { name: t(`slurmVerb.${verb}`), exact: true })
        .click()
      const dialog = page().getByRole('dialog')
      await dialog.getByLabel(t('slurmAction.reason'), { exact: true }).fill('NIC flaps | "ticket" 4711')
      await expect(dialog.getByText(/scontrol .*nodename=/i)).toBeVisible()
      await dialog.getByRole('button', { name: t('slurmAction.start', { verb: t(`slurmVerb.${verb}`), count: 1 }) }).click()
      await expect(dialog.getByTestId('slurm-action')).toHaveAttribute('data-status', 'SUCCEEDED', { timeout: 60_000 })
      await dialog
        .getByRole('button', { name: t('common.close'), exact: true })
        .last()
        .click()
      await button(t('nodes.clearSelection')).click()
    }
    await act('DRAIN_NODES')
    const { stdout } = await slurm().run(['scontrol', 'show', 'node', node!.name])
    expect(stdout).toContain('DRAIN')
    expect(stdout).toContain('NIC flaps | "ticket" 4711')
    await act('RESUME_NODES')
    await slurm().ready()
    await page()
      .getByRole('tab', { name: t('slurmAction.history') })
      .click()
    await button(t('slurmAction.start', { verb: t('slurmVerb.DRAIN_NODES'), count: 1 })).click()
    await expect(page().getByTestId('slurm-action')).toHaveAttribute('data-status', 'SUCCEEDED')
    await page().keyboard.press('Escape')
  })

  test('matches a node of the cluster to a node by name, and undoes the choice', async () => {
    const [node] = slurm().compute
    await page()
      .getByRole('tab', { name: t('slurm.nodes') })
      .click()
    await button(node!.name).click()
    const dialog = page().getByRole('dialog')
    await dialog.getByLabel(t('slurmNode.otherNode')).fill('no-such-node')
    await dialog.getByRole('button', { name: t('slurmNode.matchAction'), exact: true }).click()
    await expect(dialog.getByText(t('diff.noNode', { name: 'no-such-node' }))).toBeVisible()
    await dialog.getByLabel(t('slurmNode.otherNode')).fill('lab-controller')
    await dialog.getByRole('button', { name: t('slurmNode.matchAction'), exact: true }).click()
    await expect(dialog.getByRole('link', { name: 'lab-controller' })).toBeVisible()
    await dialog.getByRole('button', { name: t('slurmNode.matchAutomatic') }).click()
    await expect(dialog.getByRole('link', { name: 'lab-controller' })).toBeHidden()
    await page().keyboard.press('Escape')
  })

  test('shows a job that waits with its reason in plain words', async () => {
    const id = await slurm().submit('sleep 600', ['--hold', '--job-name=waits'])
    await button(t('slurm.refresh')).click()
    await page()
      .getByRole('tab', { name: new RegExp(`^${t('slurm.jobs')}`) })
      .click()
    await expect(page().getByText(t('slurmReason.JobHeldUser'))).toBeVisible({ timeout: 60_000 })
    await page().getByRole('link', { name: id, exact: true }).click()
    await expect(page().getByRole('heading', { name: t('slurmJob.jobId', { id }) })).toBeVisible()
    await slurm().run(['scancel', id])
  })

  test('shows totals of all clusters, and estimates the earliest start of a job', async () => {
    await open('/slurm')
    await expect(page().getByTestId('slurm-region')).toContainText('lab')
    await expect(page().getByTestId('gpu-model').filter({ hasText: 'h100' })).toContainText('lab')
    const form = page().getByRole('form', { name: t('slurmOverview.startTitle') })
    const starts = page().getByTestId('slurm-start')
    const estimate = async (gpus: string) => {
      await form.getByLabel(t('slurmOverview.gpus')).fill(gpus)
      await form.getByLabel(t('slurmOverview.gpuType')).selectOption('h100')
      await button(t('slurmOverview.estimate')).click()
    }
    await estimate('1')
    await expect(starts).toContainText('lab')
    await expect(starts.getByText(t('slurmOverview.startsNow')).first()).toBeVisible()
    await estimate('9000')
    await expect(starts.getByText(/does not have enough nodes in service/).first()).toBeVisible()
    await form.getByLabel(t('slurmOverview.cpus')).fill('2000000')
    await button(t('slurmOverview.estimate')).click()
    await expect(form.getByRole('alert')).toBeVisible()
  })

  test('refuses a second cluster with the same controller', async () => {
    const [controller] = slurm().controllers
    await open('/slurm/external-clusters')
    await button(t('slurm.addExternal')).click()
    await field(t('slurmConnect.name')).fill('twice')
    await field(t('slurmConnect.address')).fill(controller!.host)
    await expect(page().getByText(t('slurmConnect.existing', { name: 'lab-controller' }))).toBeVisible()
    await button(t('slurmConnect.test')).click()
    await expect(page().getByRole('heading', { name: t('slurmConnect.preview') })).toBeVisible({ timeout: 60_000 })
    await button(t('slurmConnect.add')).click()
    await expect(page().getByRole('alert').filter({ hasText: 'lab' }).first()).toBeVisible()
    await button(t('slurmConnect.reset')).click()
  })

  test('shows which command failed when no controller answers, and what to do', async () => {
    const [controller] = slurm().controllers
    await context().product.lab.fault('slurm-ctl-01', 'controller-stop')
    await field(t('slurmConnect.name')).fill('silent')
    await field(t('slurmConnect.address')).fill(controller!.host)
    await button(t('slurmConnect.test')).click()
    await expect(page().locator('[data-query=config]')).toHaveAttribute('data-state', 'FAILED', { timeout: 60_000 })
    await expect(page().getByText(t('slurmConnect.testFailed'), { exact: true })).toBeVisible({ timeout: 60_000 })
    await expect(button(t('slurmConnect.add'))).toHaveAttribute('aria-disabled', 'true')
    await button(t('slurmConnect.reset')).click()
  })

  test('keeps the last data when the controller stops answering, and recovers', async () => {
    await cluster('lab')
      .getByRole('button', { name: t('slurm.refresh') })
      .click()
    await expect(cluster('lab')).toHaveAttribute('data-state', 'NOT_ANSWERING', { timeout: 60_000 })
    await expect(cluster('lab')).toContainText(t('slurm.nodeCount', { count: slurm().compute.length }))
    await context().product.lab.heal()
    await expect(async () => {
      await cluster('lab')
        .getByRole('button', { name: t('slurm.refresh') })
        .click()
      await expect(cluster('lab')).toHaveAttribute('data-state', 'OK', { timeout: 10_000 })
    }).toPass({ timeout: 90_000 })
  })

  test('appears in the list of all clusters', async () => {
    await page()
      .getByRole('link', { name: t('slurm.clusters') })
      .first()
      .click()
    await expect(cluster('lab')).toContainText(t('slurmKind.EXTERNAL'))
  })

  test('removes a cluster and touches nothing on it', async () => {
    await open('/slurm/external-clusters')
    await cluster('lab')
      .getByRole('button', { name: t('slurm.remove') })
      .click()
    const dialog = page().getByRole('dialog')
    await expect(dialog).toContainText(t('slurm.removeText', { name: 'lab' }))
    await dialog.getByRole('button', { name: t('slurm.remove'), exact: true }).click()
    await expect(cluster('lab')).toBeHidden()
    const { code } = await slurm().run(['sinfo', '--noheader'])
    expect(code).toBe(0)
  })
}
