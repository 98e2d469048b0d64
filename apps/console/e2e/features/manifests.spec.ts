import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

const NODES = `apiVersion: muster/v1
kind: ComputeNode
metadata: {nodes: "gpu[01-03]"}
spec:
  host: 10.0.0.1+
  rack: A1
`
const GROUP = 'apiVersion: muster/v1\nkind: NodeGroup\nmetadata: {name: students}\nspec: {members: "gpu[01-03]"}\n'

test('reviews the plan of dropped files, applies it, and shows problems with lines', async ({ page, createFleet, signIn }) => {
  const { admin } = await createFleet({ nodes: 1 })
  await signIn(admin)
  await page.goto('/manifests')
  const apply = page.getByRole('button', { name: t('manifest.apply'), exact: true })
  const choose = page.getByLabel(t('manifest.choose'))
  const file = (name: string, text: string) => ({ name, mimeType: 'text/yaml', buffer: Buffer.from(text) })
  await choose.setInputFiles([file('nodes.yaml', NODES.replace('rack', 'rak')), file('group.yaml', GROUP)])
  await expect(page.getByText('nodes.yaml:6:3 spec.rak')).toBeVisible()
  await expect(page.getByText('did you mean rack?')).toBeVisible()
  await expect(apply).toHaveAttribute('aria-disabled', 'true')

  await choose.setInputFiles(file('nodes.yaml', NODES))
  const changes = page.getByRole('list', { name: t('manifest.changes') })
  await expect(changes.getByRole('listitem')).toHaveCount(2)
  await expect(changes).toContainText('gpu[01-03]')
  await expect(changes).toContainText('10.0.0.[1-3]')
  await page.getByLabel(t('manifest.owner')).fill('school')
  await expect(apply).not.toHaveAttribute('aria-disabled', 'true')
  await apply.click()
  await expect(page.getByText(t('manifest.applied'), { exact: true })).toBeVisible()

  await page.getByRole('button', { name: t('manifest.removeFile', { name: 'group.yaml' }) }).click()
  await choose.setInputFiles(file('nodes.yaml', NODES.replace('A1', 'B1')))
  await page.getByLabel(t('manifest.prune'), { exact: true }).check()
  await expect(changes).toContainText('students')
  await page.getByLabel(t('manifest.owner')).fill('other')
  await expect(page.getByText(t('manifest.conflicts', { count: 3 }))).toBeVisible()
  await expect(page.getByText('is owned by school')).toHaveCount(3)
  await page.getByLabel(t('manifest.force'), { exact: true }).check()
  await expect(page.getByText(t('manifest.conflicts', { count: 3 }))).toBeHidden()
  await apply.click()
  await expect(page.getByText(t('manifest.applied'), { exact: true })).toBeVisible()
})
