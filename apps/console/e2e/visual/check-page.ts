import path from 'node:path'
import type { ConsoleMessage, Page } from '@playwright/test'
import axe from 'axe-core'
import type { Installation } from '../fixtures/installation.ts'
import { createFleet, type Fleet } from '../fixtures/scenes/fleet.ts'
import { expect, test } from '../fixtures/test.ts'
import type { VisualPage } from './pages.ts'

const PHONE = { width: 390, height: 844 }
const DESKTOP = { width: 1360, height: 850 }

/** Screens of a page, in the order of the check. */
export type Screen = 'phone' | 'light' | 'dark'

/** Tabs that the tests of this worker share, by user. */
const tabs = new Map<string, Page>()

/**
 * Tests that a page fits its screens, logs no error and, except on a phone, has no accessibility violation. The page is opened and used
 * on the first screen; then the window and the color scheme change, as when a person does it. SHOTS_DIR takes pictures.
 *
 * Pages are opened by navigation in a shared tab, which takes a sixth of the CPU time of loading them in a tab of their own. The long
 * tests load all pages.
 */
export function checkPage(visual: VisualPage, screens: Screen[]): void {
  const { name, url, until, act, scene = 'showcase', isCut } = visual
  const isShared = scene !== 'lab' && scene !== 'signed-out' && !isCut && !process.env.MUSTER_LONG_TESTS
  test(`${name} fits its screen and passes axe: ${screens.join(', ')}`, async ({ browser, installation, scenes, sessionOf }) => {
    const showcase = await scenes.showcase()
    const fleet =
      scene === 'lab' ? await createLabTenant(installation) : scene === 'signed-out' ? showcase : await scenes[scene]()
    const id = fleet.owner.actor.id ?? ''
    const openTab = async () => {
      const context = await browser.newContext()
      if (scene !== 'signed-out') await context.addCookies(await sessionOf(fleet.owner))
      return context.newPage()
    }
    const shared = isShared ? tabs.get(id) : undefined
    const page = shared ?? (await openTab())
    if (isShared) tabs.set(id, page)
    const errors: string[] = []
    const onError = (error: Error) => void errors.push(error.message)
    const onMessage = (message: ConsoleMessage) => void (message.type() === 'error' && errors.push(message.text()))
    page.on('pageerror', onError)
    page.on('console', onMessage)
    for (const [i, screen] of screens.entries()) {
      await page.setViewportSize(screen === 'phone' ? PHONE : DESKTOP)
      await page.emulateMedia({ colorScheme: screen === 'dark' ? 'dark' : 'light' })
      if (i === 0) {
        const address = typeof url === 'string' ? url : url(showcase)
        if (shared) await navigate(page, address)
        else await page.goto(address)
        await act?.({ page, installation, showcase: { ...showcase, ...fleet } })
      }
      await check(page, screen)
    }
    if (!isCut) expect(errors.filter((error) => !error.includes('404'))).toEqual([])
    page.off('pageerror', onError)
    page.off('console', onMessage)
    if (!isShared) await page.context().close()
  })

  async function check(page: Page, screen: Screen): Promise<void> {
    await expect(page.getByText(until).filter({ visible: true }).first()).toBeVisible()
    await expect(page.locator('html')).toHaveAttribute('data-theme', screen === 'dark' ? 'dark' : 'light')
    if (process.env.SHOTS_DIR) {
      await page.waitForTimeout(250) // animations; for people only, nothing is tested with the picture
      await page.screenshot({ path: path.join(process.env.SHOTS_DIR, `${name}-${screen}.png`) })
    }
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    await expect.poll(overflow, `${screen}: pixels by which the page scrolls sideways`).toBeLessThanOrEqual(0)
    if (screen !== 'phone') expect(await violations(page, screen), screen).toEqual([])
  }
}

/** Opens a page as a link of the console does. The page in between unmounts what the test before has opened. */
async function navigate(page: Page, address: string): Promise<void> {
  await page.evaluate(() => sessionStorage.clear())
  for (const next of ['/settings/account', address]) {
    await page.evaluate((href) => (window as unknown as NextWindow).next.router.push(href), next)
    await page.waitForURL(({ href }) => href === new URL(next, href).href)
  }
}

/** The router of Next.js, which it sets for debuggers. */
type NextWindow = { next: { router: { push(href: string): void } } }

/** What axe finds on a page without frames. axe is parsed once per document: parsing takes half as long as a check. */
async function violations(page: Page, screen: Screen): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  // A dark page differs from the light one, which was checked before, in its colors only.
  const runOnly = screen === 'dark' ? ['color-contrast'] : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']
  return page.evaluate(async (rules) => {
    const { run } = (window as unknown as { axe: typeof axe }).axe
    // Base UI's focus guards are focusable on purpose: they send the focus back into the popup.
    const context = { exclude: ['[data-base-ui-focus-guard]'] }
    const { violations } = await run(context, { resultTypes: ['violations'], runOnly: rules })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
  }, runOnly)
}

async function createLabTenant(installation: Installation): Promise<Fleet> {
  const lab = await createFleet(installation, { nodes: 0 })
  await installation.given.credential(lab.admin, 'SSH_KEY', { name: 'lab key' })
  await installation.given.credential(lab.admin, 'BASTION', { name: 'lab bastion' })
  return lab
}
