import { expect, test } from '../fixtures/test.ts'
import { t } from '../labels.ts'

test('approves the sign-in of a terminal after the code is compared', async ({ page, signIn, createFleet, installation }) => {
  const { operator } = await createFleet({ nodes: 0 })
  const ask = async (query: string, input: object) => {
    const response = await fetch(`${installation.apiUrl}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { input } }),
    })
    return ((await response.json()) as { data: { it: Record<string, string> } }).data.it
  }
  const started = await ask(
    'mutation ($input: StartDeviceSignInInput!) { it: startDeviceSignIn(input: $input) { ... on StartDeviceSignInPayload { deviceCode userCode } } }',
    { tokenName: 'muster on login1', clientName: 'login1', expiresInSeconds: 86_400 },
  )
  await signIn(operator)
  await page.goto('/device')
  await page.getByLabel(t('device.code')).fill('BBBB-BBBB')
  await page.getByRole('button', { name: t('device.continue') }).click()
  await expect(page.getByText('This code is wrong')).toBeVisible()
  await page.goto('/runs')
  await page.goto(`/device#code=${started.userCode}`)
  await expect(page.getByText('login1', { exact: true })).toBeVisible()
  await expect(page.getByText(started.userCode!)).toBeVisible()
  await page.getByRole('button', { name: t('device.approve') }).click()
  await expect(page.getByText(t('device.approvedText'))).toBeVisible()
  const polled = await ask(
    'mutation ($input: PollDeviceSignInInput!) { it: pollDeviceSignIn(input: $input) { ... on PollDeviceSignInPayload { status secret } } }',
    { deviceCode: started.deviceCode },
  )
  expect(polled).toMatchObject({ status: 'APPROVED', secret: expect.stringMatching(/^mst_/) })
})
