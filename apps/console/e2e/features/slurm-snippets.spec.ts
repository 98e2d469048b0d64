import { addSlurmCluster } from '@muster/core/clusters'
import { inTransaction } from '@muster/core/context'
import { createConfigVersion, recordSlurmConfigRollout } from '@muster/core/slurm-configs'
import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

const conf = (name: string, more = '') =>
  `ClusterName=${name}\nSlurmctldHost=ctl\n${more}NodeName=n[1-2] CPUs=8\nPartitionName=debug Nodes=n[1-2] State=UP\n`
const reason = 'Longer arrays'

test('applies a snippet of a region cluster by cluster, goes on after one that failed, and applies that one again', async ({
  page,
  createFleet,
  signIn,
}) => {
  const { admin, worker, nodes } = await createFleet({ nodes: 4 })
  const names = ['alpha', 'beta', 'delta', 'gamma']
  const save = (clusterId: string, text: string, basedOn: number | null) =>
    inTransaction(admin, (tx, ctx) =>
      createConfigVersion(tx, ctx, { clusterId, basedOn, files: { 'slurm.conf': text }, origin: 'IMPORTED', reason }),
    )
  const ids: Record<string, string> = {}
  for (const [i, name] of names.entries()) {
    const { id } = await addSlurmCluster(admin, { name, region: 'eu', controllerNodeId: nodes[i]!.id, reuseConfig: false })
    await save(id, conf(name), null)
    await recordSlurmConfigRollout(worker, { clusterId: id, number: 1 })
    ids[name] = id
  }
  await signIn(admin)
  await page.goto('/slurm/snippets')
  await page.getByRole('button', { name: t('slurmSnippet.new'), exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(t('slurmSnippet.name'), { exact: true }).fill('limits')
  await dialog.getByLabel('slurm.conf', { exact: true }).fill('MaxArraySize=5000')
  await dialog.getByRole('checkbox', { name: 'eu', exact: true }).check()
  await expect(dialog.getByRole('checkbox', { name: 'alpha', exact: true })).toBeChecked()
  await dialog.getByLabel(t('slurmAction.reason'), { exact: true }).fill(reason)
  await dialog.getByRole('button', { name: t('slurmSnippet.save'), exact: true }).click()

  const row = (name: string) => dialog.getByRole('listitem').filter({ hasText: name })
  await expect(dialog.getByRole('heading', { name: t('slurmSnippet.applyManyTitle', { count: 4 }) })).toBeVisible()
  for (const name of names) await expect(row(name)).toHaveAttribute('data-step', 'READY')
  // After the preview, somebody changes the configuration of one cluster, and another one is not chosen.
  await save(ids.beta!, conf('beta', 'KillWait=60\n'), 1)
  await dialog.getByRole('checkbox', { name: 'gamma', exact: true }).uncheck()
  await dialog.getByRole('button', { name: t('slurmSnippet.applyStart', { count: 3 }), exact: true }).click()
  await expect(row('delta')).toHaveAttribute('data-step', 'DONE')
  await expect(row('alpha')).toHaveAttribute('data-step', 'DONE')
  await expect(row('beta')).toContainText('changed after the preview')
  await expect(row('gamma')).toHaveAttribute('data-step', 'READY')

  await dialog.getByRole('button', { name: t('slurmSnippet.retry', { count: 1 }), exact: true }).click()
  await expect(row('beta')).toHaveAttribute('data-step', 'READY')
  await dialog.getByRole('button', { name: t('slurmSnippet.applyStart', { count: 1 }), exact: true }).click()
  await expect(row('beta')).toContainText(t('slurmConfig.version', { number: '3' }))
  await dialog
    .getByRole('button', { name: t('common.close'), exact: true })
    .last()
    .click()
  await expect(page.getByText(t('slurmSnippet.unapplied', { count: 1 }))).toBeVisible()

  // Configurations keep the lines of a deleted snippet until they are applied.
  await page.getByRole('button', { name: t('slurmSnippet.deleteLabel', { name: 'limits' }) }).click()
  await expect(dialog).toContainText('alpha, beta, delta, gamma')
  await dialog.getByLabel(t('slurmAction.reason'), { exact: true }).fill('not needed')
  await dialog.getByRole('button', { name: t('slurmSnippet.delete'), exact: true }).click()
  await expect(dialog.getByRole('heading', { name: t('slurmSnippet.applyManyTitle', { count: 3 }) })).toBeVisible()
  await dialog.getByRole('button', { name: t('slurmSnippet.applyStart', { count: 3 }), exact: true }).click()
  for (const name of ['alpha', 'beta', 'delta']) await expect(row(name)).toHaveAttribute('data-step', 'DONE')
  await dialog
    .getByRole('button', { name: t('common.close'), exact: true })
    .last()
    .click()
  await expect(page.getByText(t('slurmSnippet.emptyTitle'))).toBeVisible()
})
