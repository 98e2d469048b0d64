import { expect, test } from '@playwright/test'
import { pretendApi } from '../pretend/api.ts'
import { pretendWorld } from '../pretend/world.ts'

test('keys that wait for approval can be looked at from the list of nodes', async ({ page }) => {
  await pretendApi(page, pretendWorld({}))
  await page.goto('/nodes')
  await expect(page.getByText(/host keys? waits? for your approval/)).toBeVisible()
  await page.getByRole('button', { name: 'Look at the keys' }).click()
  await expect(page.getByRole('dialog').getByText('SHA256:').first()).toBeVisible()
})
