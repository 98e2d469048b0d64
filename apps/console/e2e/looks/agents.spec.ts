import { expect, test } from '@playwright/test'
import { pretendApi } from '../pretend/api.ts'
import { pretendWorld } from '../pretend/world.ts'

test('ten thousand nodes are walked through by keyboard, change live, and open', async ({ page }) => {
  const world = pretendWorld({ nodes: 10_000 })
  let tell = async (_beats: object[]) => {}
  world.streams.heartbeats = (_variables, send) => {
    tell = send
  }
  await pretendApi(page, world)
  await page.goto('/fleet')
  const grid = page.getByRole('listbox', { name: /nodes of training/ })
  const cell = grid.getByRole('option')
  await grid.focus()
  await page.keyboard.press('ArrowRight')
  await expect(cell).toHaveText('gpu004: Pending, CPU 10 %, memory 58 %')
  await page.keyboard.press('End')
  await expect(cell).toContainText('gpu10000: ')
  await page.keyboard.press('Home')
  await expect(cell).toContainText('gpu001: Active')
  const stale = page.getByRole('list', { name: 'Nodes by state' }).getByRole('link', { name: /Stale/ })
  await expect(stale).toContainText('242')
  const beat = { nodeId: 'x', cluster: 'training', stateSince: new Date().toISOString(), heardAt: null, sequence: 7, skewMs: 1 }
  await tell([{ ...beat, name: 'gpu001', state: 'STALE', health: 'healthy', cpuPercent: 12.4, memoryPercent: null }])
  await expect(cell).toHaveText('gpu001: Stale, CPU 12 %, memory – %')
  await expect(stale).toContainText('243')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/nodes\/.*tab=agent$/)
  await expect(page.getByRole('heading', { name: 'gpu001' })).toBeVisible()
})

test('the numbers of the fleet lead to its nodes, filtered in the list', async ({ page }) => {
  await pretendApi(page, pretendWorld({ nodes: 400 }))
  await page.goto('/fleet?cluster=lab')
  await page.getByRole('table').getByRole('row', { name: /^lab/ }).getByRole('link').first().click()
  await expect(page).toHaveURL(/\/nodes\?agent=ACTIVE&cluster=lab&region=us-east&datacenter=va1$/)
  await expect(page.getByRole('button', { name: /Remove filter\s*Agent\s*Active/ })).toBeVisible()
})

test('an agent that may not be changed says why, and a drain asks for its reason', async ({ page }) => {
  const world = pretendWorld({})
  const asked: object[] = []
  world.root.drainAgent = (input: object) => {
    asked.push(input)
    return { __typename: 'ConflictError', message: 'The agent gpu001 is to be drained already.', code: 'CONFLICT' }
  }
  await pretendApi(page, world)
  await page.goto(`/nodes/${encodeURIComponent('TjpuZGUxMjM0=')}?tab=agent`)
  // What is blocked can be reached and clicked, though it does nothing but say why.
  await page.getByRole('button', { name: 'Resume' }).click({ force: true })
  await expect(page.getByRole('tooltip').filter({ hasText: 'Nobody asked' })).toBeVisible()
  await page.getByRole('button', { name: 'Drain', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('a new disk')
  await dialog.getByRole('button', { name: 'Drain', exact: true }).click()
  await expect(dialog.getByText('is to be drained already')).toBeVisible()
  expect(asked).toMatchObject([{ reason: 'a new disk' }])
})

test('an enrolment token is revoked, and one that was used meanwhile says so', async ({ page }) => {
  const world = pretendWorld({ nodes: 2 })
  const asked: object[] = []
  world.root.revokeAgentEnrolmentToken = (input: object) => {
    asked.push(input)
    return { __typename: 'ConflictError', message: 'The token mse_9fQ2x7Ka… was used already.', code: 'CONFLICT' }
  }
  await pretendApi(page, world)
  await page.goto('/fleet')
  await page.getByRole('tab', { name: 'Enrolment tokens' }).click()
  const line = page.getByRole('listitem').filter({ hasText: 'for the new rack' })
  await line.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.getByRole('dialog').getByText('was used already')).toBeVisible()
  expect(asked).toMatchObject([{ id: 'a' }])
  await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click()
  await page.getByLabel('State').selectOption('All')
  await expect(page).toHaveURL(/tab=enrolment&tokens=all$/)
  await expect(page.getByText('revoked by Ada Park')).toBeVisible()
})

test('what is wrong with a setting of agents stands at its field, and only what was changed is sent', async ({ page }) => {
  const world = pretendWorld({})
  const asked: object[] = []
  world.root.updateAgentSettings = ({ input }: { input: object }) => {
    asked.push(input)
    return asked.length === 1
      ? {
          __typename: 'InvalidInputError',
          message: 'The input is not valid.',
          code: 'INVALID_INPUT',
          issues: [{ path: 'staleAfterS', message: 'must be at least twice the 30 s between heartbeats' }],
        }
      : { ...(world.root.agentSettings as object), ...input, __typename: 'AgentSettings' }
  }
  await pretendApi(page, world)
  await page.goto('/settings/tokens')
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Agents' }).click()
  const stale = page.getByLabel('Stale after')
  await stale.fill('40')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'must be at least twice' })).toBeVisible()
  await expect(stale).toHaveAttribute('aria-invalid', 'true')
  await stale.fill('90')
  await page.getByLabel('Deregister after').fill('7')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('The settings are saved')).toBeVisible()
  expect(asked).toEqual([{ staleAfterS: 40 }, { staleAfterS: 90, deregisterAfterDays: 7 }])
})

test('several alerts are looked after with one note, and one that is meant to stay is ended', async ({ page }) => {
  const world = pretendWorld({})
  const asked: object[] = []
  const acknowledge = world.root.acknowledgeAlerts as (input: object) => object
  world.root.acknowledgeAlerts = (input: object) => {
    asked.push(input)
    return acknowledge(input)
  }
  world.root.endAlert = (input: object) => {
    asked.push(input)
    return { __typename: 'ForbiddenError', message: 'This needs the role admin; yours is operator.', code: 'FORBIDDEN' }
  }
  await pretendApi(page, world)
  await page.goto('/alerts')
  await page.getByRole('checkbox', { name: 'Select gpu001 is offline' }).click()
  await page.getByRole('checkbox', { name: 'Select gpu004 is heard again' }).click({ modifiers: ['Shift'] })
  const bar = page.getByRole('toolbar', { name: 'Actions for the selected alerts' })
  await expect(bar.getByText('4 selected')).toBeVisible()
  await bar.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByLabel('Note').fill('The rack is being moved.')
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
  await expect(bar).toBeHidden()
  await page.getByRole('button', { name: 'gpu005 has lost an accelerator', exact: true }).click()
  await page.getByRole('button', { name: 'It is meant to be so' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'It is meant to be so' }).click()
  await expect(page.getByRole('dialog').getByText('needs the role admin')).toBeVisible()
  expect(asked).toMatchObject([{ ids: ['A0', 'A1', 'A2', 'A3'], note: 'The rack is being moved.' }, { id: 'A4' }])
})

test('an alert is looked after with a note, and silenced where it came from', async ({ page }) => {
  const world = pretendWorld({})
  const asked: object[] = []
  world.root.createAlertSilence = ({ input }: { input: object }) => {
    asked.push(input)
    return { __typename: 'AlertSilence', id: 'S9' }
  }
  await pretendApi(page, world)
  await page.goto('/alerts')
  const line = page.getByRole('listitem').filter({ hasText: 'gpu001 is offline' })
  await line.getByRole('button', { name: /^Acknowledge/ }).click()
  await page.getByLabel('Note').fill('The rack is being moved.')
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge', exact: true }).click()
  await expect(line.getByText('Looked after')).toBeVisible()
  await line.getByRole('button', { name: /^Silence/ }).click()
  await page.getByLabel('Why').fill('moving')
  await page.getByRole('dialog').getByRole('button', { name: 'Silence', exact: true }).click()
  await expect(page.getByRole('dialog')).toBeHidden()
  expect(asked).toMatchObject([{ reason: 'moving', matcher: { kinds: ['OFFLINE'], query: 'name = gpu001' } }])
})
