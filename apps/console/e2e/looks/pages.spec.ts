import path from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { expect, type Page, test } from '@playwright/test'
import { pretendApi } from '../pretend/api.ts'
import { pretendWorld, type Wishes } from '../pretend/world.ts'

// No page knows of another: both workers may take of them.
test.describe.configure({ mode: 'parallel' })

const node = `/nodes/${encodeURIComponent('TjpuZGUxMjM0=')}`
const odd = `/nodes/${encodeURIComponent('TjpuZGUxMjM1=')}`
const alarmed = `/nodes/${encodeURIComponent('TjpuZGUxMjM7=')}`
const run = `/runs/${encodeURIComponent('Um4x0=')}`
type Look = { name: string; url: string; wishes?: Wishes; until: string; act?: (page: Page) => Promise<void> }
/** The dark theme differs in colours only, a phone in layout only: these have all of either. SHOTS_DIR takes pictures of all in all. */
const inTheDark = [
  'sign-in',
  'nodes',
  'add-preflight',
  'node-alarm',
  'runs',
  'run-log',
  'run-events',
  'credential-new',
  'fleet',
  'enrolment-all',
  'agent-settings',
  'node-agent-changed',
  'alerts-selected',
]
const onThePhone = [
  'sign-in',
  'nodes-filtered',
  'nodes-selected',
  'add-bulk',
  'add-preflight',
  'add-keys',
  'node-alarm',
  'node-accelerators',
  'node-agent-changed',
  'enrol',
  'fleet',
  'enrolment-all',
  'agent-settings',
  'alerts-selected',
  'alert-silence',
  'routes',
  'runs',
  'run-new',
  'run-new-inputs',
  'run-waiting',
  'run-artifacts',
  'run-log',
  'run-canceled',
  'credentials',
  'tokens',
]
const looks: Look[] = [
  { name: 'sign-in', url: '/sign-in', wishes: { signedIn: false }, until: 'Sign in' },
  { name: 'welcome', url: '/welcome', until: 'Welcome to Muster' },
  { name: 'nodes', url: '/nodes', wishes: { nodes: 40 }, until: 'gpu001' },
  { name: 'nodes-filtered', url: '/nodes?status=READY&device=NVIDIA_GPU', until: 'gpu001' },
  {
    name: 'nodes-selected',
    url: '/nodes',
    until: 'gpu001',
    act: (page) => page.getByRole('checkbox', { name: 'Select gpu002' }).click(),
  },
  { name: 'nodes-empty', url: '/nodes', wishes: { nodes: 0 }, until: 'No nodes yet' },
  { name: 'nodes-10000', url: '/nodes', wishes: { nodes: 10_000 }, until: '10,000' },
  {
    name: 'nodes-error',
    url: '/nodes',
    wishes: { failing: 'The database is being restarted. Try again in a moment.' },
    until: 'could not be loaded',
  },
  { name: 'add-single', url: '/nodes/add', wishes: { lab: true }, until: '8 lab nodes' },
  {
    name: 'add-bulk',
    url: '/nodes/add?mode=bulk',
    until: 'can be added',
    act: async (page) => {
      await page.getByLabel('Nodes', { exact: true }).fill('gpu1\n-oProxy\ngpu3')
      await expect(page.getByText('cannot begin with')).toBeVisible()
    },
  },
  {
    name: 'add-preflight',
    url: '/nodes/add',
    wishes: { lab: true },
    until: 'Retry',
    act: async (page) => {
      await page.getByRole('button', { name: 'Add all 8' }).click()
      await expect(page.getByText('waits for your approval')).toBeVisible()
    },
  },
  {
    name: 'add-keys',
    url: '/nodes/add',
    wishes: { lab: true },
    until: 'Host keys to approve',
    act: async (page) => {
      await page.getByRole('button', { name: 'Add all 8' }).click()
      await page.getByRole('button', { name: 'Look at the keys' }).click()
    },
  },
  { name: 'node', url: node, until: 'Hardware' },
  { name: 'node-alarm', url: alarmed, until: 'The host key has changed' },
  { name: 'node-accelerators', url: `${node}?tab=accelerators`, until: 'H100' },
  { name: 'node-facts', url: `${node}?tab=facts`, until: 'network' },
  { name: 'node-discoveries', url: `${node}?tab=discoveries`, until: 'Onboarding' },
  { name: 'node-runs', url: `${node}?tab=runs`, until: 'Collect facts' },
  { name: 'node-agent', url: `${node}?tab=agent`, until: 'Why to believe it' },
  { name: 'node-agent-changed', url: `${odd}?tab=agent`, until: 'Approve the change' },
  { name: 'node-agent-none', url: `${node}?tab=agent`, wishes: { agents: false }, until: 'This node has no agent' },
  {
    name: 'enrol',
    url: `${node}?tab=agent`,
    wishes: { agents: false },
    until: 'not shown again',
    act: async (page) => {
      await page.getByRole('button', { name: 'Enrol an agent' }).click()
      await page.getByRole('button', { name: 'Make a token' }).click()
    },
  },
  { name: 'fleet', url: '/fleet', wishes: { nodes: 400 }, until: 'In numbers' },
  { name: 'fleet-10000', url: '/fleet?by=cpu', wishes: { nodes: 10_000 }, until: 'In numbers' },
  { name: 'fleet-empty', url: '/fleet', wishes: { agents: false }, until: 'No agents yet' },
  {
    name: 'fleet-error',
    url: '/fleet',
    wishes: { failing: 'The database is being restarted. Try again in a moment.' },
    until: 'could not be loaded',
  },
  { name: 'enrolment', url: '/fleet?tab=enrolment', until: 'for the new rack' },
  { name: 'enrolment-all', url: '/fleet?tab=enrolment&tokens=all', until: 'used by gpu001' },
  { name: 'enrolment-many', url: '/fleet?tab=enrolment', wishes: { nodes: 10_000 }, until: 'Show more' },
  { name: 'enrolment-empty', url: '/fleet?tab=enrolment', wishes: { nodes: 0 }, until: 'No token waits for an agent' },
  {
    name: 'enrolment-error',
    url: '/fleet?tab=enrolment',
    wishes: { failing: 'The database is being restarted. Try again in a moment.' },
    until: 'could not be loaded',
  },
  {
    name: 'enrol-key',
    url: '/fleet',
    until: 'Give the key first',
    act: async (page) => {
      await page.getByRole('button', { name: 'Enrol nodes' }).click()
      await page.getByRole('tab', { name: 'By its key' }).click()
    },
  },
  { name: 'agent-settings', url: '/settings/agents', until: 'When many are silent at once' },
  {
    name: 'agent-settings-error',
    url: '/settings/agents',
    wishes: { failing: 'The database is being restarted. Try again in a moment.' },
    until: 'could not be loaded',
  },
  {
    name: 'alerts-selected',
    url: '/alerts',
    until: '1 selected',
    act: (page) => page.getByRole('checkbox', { name: 'Select gpu002' }).click(),
  },
  {
    name: 'alert-lost',
    url: '/alerts',
    until: 'It is meant to be so',
    act: (page) => page.getByRole('button', { name: 'gpu005 has lost an accelerator', exact: true }).click(),
  },
  { name: 'alerts', url: '/alerts', wishes: { nodes: 40 }, until: 'is offline' },
  { name: 'alerts-10000', url: '/alerts', wishes: { nodes: 10_000 }, until: 'is offline' },
  { name: 'alerts-empty', url: '/alerts', wishes: { nodes: 0 }, until: 'No open alerts' },
  {
    name: 'alerts-error',
    url: '/alerts',
    wishes: { failing: 'The database is being restarted. Try again in a moment.' },
    until: 'could not be loaded',
  },
  {
    name: 'alert',
    url: '/alerts',
    until: 'What was seen',
    act: (page) => page.getByRole('button', { name: 'gpu001 is offline', exact: true }).click(),
  },
  {
    name: 'alert-silence',
    url: '/alerts',
    until: 'Say why first',
    act: (page) => page.getByRole('button', { name: 'Silence: gpu001 is offline' }).click(),
  },
  { name: 'silences', url: '/alerts?tab=silences', until: 'The rack is being moved' },
  { name: 'routes', url: '/alerts?tab=routes', until: 'on call' },
  {
    name: 'route-new',
    url: '/alerts?tab=routes',
    until: 'Messages are signed with it',
    act: (page) => page.getByRole('button', { name: 'New route' }).click(),
  },
  { name: 'node-missing', url: '/nodes/nothing', until: 'There is no such node' },
  { name: 'runs', url: '/runs', until: 'Collect facts' },
  { name: 'runs-empty', url: '/runs', wishes: { runs: 0 }, until: 'Nothing has run yet' },
  { name: 'runs-10000', url: '/runs', wishes: { runs: 10_000 }, until: '10,000' },
  { name: 'run-new', url: '/runs/new', until: 'Connectivity check' },
  {
    name: 'run-new-inputs',
    url: '/runs/new?template=install_driver&limit=all',
    until: 'It would be refused',
    act: async (page) => {
      await page.getByLabel('licence').fill('a secret')
      await page.getByText('More options').click()
      await page.getByRole('button', { name: 'Preview' }).click()
    },
  },
  { name: 'run-log', url: run, wishes: { lines: 3000 }, until: 'Following' },
  { name: 'run-canceled', url: `${run}?tab=hosts`, wishes: { runStatus: 'CANCELED' }, until: 'in the middle of a task' },
  { name: 'run-events', url: `${run}?tab=events`, until: 'results' },
  { name: 'run-waiting', url: run, wishes: { runStatus: 'PENDING' }, until: 'Waits for another run' },
  { name: 'run-artifacts', url: `${run}?tab=artifacts`, wishes: { runStatus: 'PARTIAL' }, until: 'firmware.csv' },
  {
    name: 'run-retry',
    url: run,
    wishes: { runStatus: 'PARTIAL' },
    until: '2 that were not run',
    act: (page) => page.getByRole('button', { name: 'Retry', exact: true }).click(),
  },
  { name: 'run-details', url: `${run}?tab=details`, until: 'How it runs' },
  { name: 'credentials', url: '/credentials', until: 'fleet key' },
  {
    name: 'credential-new',
    url: '/credentials',
    until: 'Private key',
    act: (page) => page.getByRole('button', { name: 'New credential' }).click(),
  },
  {
    name: 'credential-moved',
    url: '/credentials',
    until: 'To be given again',
    act: async (page) => {
      await page.getByRole('listitem').filter({ hasText: 'Bastion' }).getByRole('button', { name: 'Update' }).first().click()
      await page.getByLabel('Host or address').fill('another.example')
    },
  },
  { name: 'credentials-empty', url: '/credentials', wishes: { nodes: 0 }, until: 'No credentials yet' },
  { name: 'tokens', url: '/settings/tokens', until: 'nightly' },
  { name: 'not-found', url: '/no/such/page', until: 'There is no such page' },
]
const screens = [
  { screen: 'light', viewport: { width: 1360, height: 850 }, colorScheme: 'light', only: looks.map(({ name }) => name) },
  { screen: 'dark', viewport: { width: 1360, height: 850 }, colorScheme: 'dark', only: inTheDark },
  { screen: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light', only: onThePhone },
] as const

for (const { screen, only, ...use } of screens) {
  test.describe(screen, () => {
    test.use(use)
    for (const look of looks.filter(({ name }) => process.env.SHOTS_DIR || only.includes(name))) {
      test(`${look.name} fits, reads and speaks`, async ({ page }) => {
        const errors: string[] = []
        page.on('pageerror', (error) => errors.push(error.message))
        page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
        await pretendApi(page, pretendWorld(look.wishes))
        await page.goto(look.url)
        await look.act?.(page)
        await expect(page.getByText(look.until).filter({ visible: true }).first()).toBeVisible()
        if (process.env.SHOTS_DIR) {
          // For people only: what fades in is there by then. Nothing is tested by it.
          await page.waitForTimeout(250)
          await page.screenshot({ path: path.join(process.env.SHOTS_DIR, `${look.name}-${screen}.png`) })
        }
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        expect(overflow, 'the page scrolls sideways').toBeLessThanOrEqual(0)
        expect(errors.filter((error) => !error.includes('404'))).toEqual([])
        if (screen === 'phone') return
        // There are no frames, so it need not put its results together in a page of its own.
        const axe = new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).setLegacyMode()
        const { violations } = await axe.analyze()
        expect(
          violations.map((violation) => `${violation.id}: ${violation.nodes.map((each) => each.html.slice(0, 160)).join(' | ')}`),
        ).toEqual([])
      })
    }
  })
}
