import { createClusters } from '../fixtures/scenes/slurm.ts'
import { expect, test } from '../fixtures/test.ts'
import { clusterUrl } from '../fixtures/urls.ts'
import { t } from '../labels.ts'

test('adds unmatched nodes of a cluster to the inventory, and continues with their connection test', async ({
  page,
  createFleet,
  signIn,
}) => {
  const fleet = await createFleet({ nodes: 10 })
  const { current } = await createClusters(fleet)
  await signIn(fleet.admin)
  await page.goto(`${clusterUrl(current)}?tab=nodes&match=UNMATCHED`)
  const dialog = page.getByRole('dialog')
  // The first ten have the names of nodes of the inventory.
  await expect(page.getByRole('button', { name: 'gpu00010', exact: true })).toBeHidden()
  for (const name of ['gpu00011', 'gpu00012'])
    await page.getByRole('checkbox', { name: t('nodes.select', { name }), exact: true }).check()
  await page.getByRole('button', { name: t('slurmNode.onboard'), exact: true }).click()
  await expect(dialog).toContainText('gpu00011, gpu00012')
  await dialog.getByRole('button', { name: t('slurmNode.onboard'), exact: true }).click()
  const next = dialog.getByRole('button', { name: t('slurmNode.onboardTest', { count: 2 }), exact: true })
  await expect(next).toBeVisible()
  await expect(page.getByRole('button', { name: 'gpu00011', exact: true })).toBeHidden()
  await next.click()
  await expect(page).toHaveURL(/\/nodes\/add\?step=test&nodes=/)
  await expect(page.getByText('gpu00012').first()).toBeVisible()
})
