import { addSlurmCluster } from '@muster/core/clusters'
import { inTransaction } from '@muster/core/context'
import { createConfigVersion, recordSlurmConfigRollout, saveSlurmConfig } from '@muster/core/slurm-configs'
import { finishOperation } from '../fixtures/slurm-worker.ts'
import { expect, test } from '../fixtures/test.ts'
import { clusterUrl } from '../fixtures/urls.ts'
import { t } from '../labels.ts'

const conf = (more: string) => ({
  'slurm.conf': `ClusterName=alpha\nSlurmctldHost=ctl\n${more}NodeName=n[1-2] CPUs=8\nPartitionName=debug Nodes=n[1-2] State=UP\n`,
})

test('rolls out a version after its difference, and rolls back to the one before', async ({ page, createFleet, signIn }) => {
  const fleet = await createFleet({ nodes: 1 })
  const { admin, worker, nodes } = fleet
  const cluster = await addSlurmCluster(admin, { name: 'alpha', controllerNodeId: nodes[0]!.id, reuseConfig: false })
  const clusterId = cluster.id
  await inTransaction(admin, (tx, ctx) =>
    createConfigVersion(tx, ctx, { clusterId, basedOn: null, files: conf(''), origin: 'IMPORTED', reason: 'Import' }),
  )
  await recordSlurmConfigRollout(worker, { clusterId, number: 1 })
  await saveSlurmConfig(admin, { clusterId, basedOn: 1, files: conf('KillWait=60\n'), reason: 'Slow jobs' })
  await signIn(admin)
  await page.goto(`${clusterUrl(cluster)}?tab=settings`)
  const dialog = page.getByRole('dialog')
  const operation = dialog.getByTestId('slurm-operation')
  const close = () =>
    dialog
      .getByRole('button', { name: t('common.close'), exact: true })
      .last()
      .click()

  await page.getByRole('button', { name: t('slurmConfig.rollout', { number: '2' }), exact: true }).click()
  await expect(dialog).toContainText('KillWait=60')
  await expect(dialog.getByText(t('slurmAction.needReason'), { exact: true })).toBeVisible()
  await dialog.getByLabel(t('slurmAction.reason'), { exact: true }).fill('Slow jobs')
  await dialog.getByRole('button', { name: t('slurmConfig.rolloutStart', { number: '2', count: 1 }), exact: true }).click()
  await expect(operation).toHaveAttribute('data-status', 'PENDING')
  await finishOperation(fleet, 2)
  await expect(operation).toHaveAttribute('data-status', 'SUCCEEDED')
  await close()

  await page.getByRole('button', { name: t('slurmConfig.rollback', { number: '1' }), exact: true }).click()
  await expect(dialog).toContainText('KillWait=60')
  await dialog.getByLabel(t('slurmAction.reason'), { exact: true }).fill('Jobs hang')
  await dialog.getByRole('button', { name: t('slurmConfig.rollbackStart', { number: '1', count: 1 }), exact: true }).click()
  await expect(operation).toHaveAttribute('data-status', 'PENDING')
  // A rollback stores the files of the old version as a new one.
  await finishOperation(fleet, 3)
  await expect(operation).toHaveAttribute('data-status', 'SUCCEEDED')
  await close()
  const row = page.getByRole('listitem').filter({ hasText: t('slurmConfig.version', { number: '3' }) })
  await expect(row).toContainText(t('slurmConfig.isCurrent'))
})
