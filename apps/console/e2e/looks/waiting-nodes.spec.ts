import { expect, test } from '@playwright/test'
import { pretendApi } from '../pretend/api.ts'
import { pretendWorld } from '../pretend/world.ts'

test('nodes that are not in yet lead from the list into the step that brings them in, which survives a reload', async ({
  page,
}) => {
  let tests = 0
  page.on('request', (request) => request.postData()?.includes('testConnections(') && tests++)
  await pretendApi(page, pretendWorld({}))
  await page.goto('/nodes')
  await page.getByRole('button', { name: 'Test and approve' }).click()
  await expect(page).toHaveURL(/\/nodes\/add\?step=test&nodes=/)
  await page.getByRole('button', { name: 'Look at the keys' }).click()
  await expect(page.getByRole('dialog').getByText('SHA256:').first()).toBeVisible()
  await expect(page.getByRole('dialog').getByText('ssh-keygen -lf')).toBeVisible()
  await page.reload()
  await expect(page.getByRole('button', { name: 'Look at the keys' })).toBeVisible()
  expect(tests).toBe(1)
  await page.goBack()
  await expect(page).toHaveURL(/\/nodes$/)
})

test('what is chosen in the list stays chosen, and a change to all of it says who refused', async ({ page }) => {
  const world = pretendWorld({})
  world.root.updateNode = ({ input }: { input: { id: string } }) => ({
    __typename: 'ConflictError',
    message: `The node ${input.id} is decommissioned; recommission it first.`,
    code: 'CONFLICT',
  })
  await pretendApi(page, world)
  await page.goto('/nodes')
  await page.getByRole('checkbox', { name: 'Select gpu001' }).click()
  await page.getByRole('checkbox', { name: 'Select gpu002' }).click()
  await page.getByRole('link', { name: 'gpu001' }).click()
  await expect(page.getByRole('heading', { name: 'gpu001' })).toBeVisible()
  await page.goBack()
  await expect(page.getByText('2 selected')).toBeVisible()
  await page.getByRole('toolbar').getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Edit…' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('Change something first')).toBeVisible()
  await dialog.getByLabel('Add tags').fill('rack9')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByText('2 were refused, 0 are done')).toBeVisible()
  await expect(dialog.getByRole('listitem').filter({ hasText: 'gpu002' })).toContainText('recommission it first')
  await expect(dialog.getByRole('button', { name: 'Retry the 2 that failed' })).toBeVisible()
})
