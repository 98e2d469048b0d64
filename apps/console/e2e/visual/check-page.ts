import path from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { createFleet } from '../fixtures/scenes/fleet.ts'
import { expect, test } from '../fixtures/test.ts'
import type { VisualPage } from './pages.ts'

const PHONE = { width: 390, height: 844 }
const DESKTOP = { width: 1360, height: 850 }

/** Screens of a page, in the order of the check. */
export type Screen = 'phone' | 'light' | 'dark'

/**
 * Tests that a page fits its screens, logs no error and, except on a phone, has no accessibility violation. The page is loaded and used
 * on the first screen; then the window and the color scheme change, as when a person does it. SHOTS_DIR takes pictures.
 */
export function checkPage(visual: VisualPage, screens: Screen[]): void {
  const { name, url, until, act, scene, isCut } = visual
  test(`${name} fits its screen and passes axe: ${screens.join(', ')}`, async ({ page, installation, scenes, signIn }) => {
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    const showcase = await scenes.showcase()
    const fleet =
      scene === 'large'
        ? await scenes.large()
        : scene === 'empty'
          ? await scenes.empty()
          : scene === 'lab'
            ? await createLabTenant()
            : showcase
    if (scene !== 'signed-out') await signIn(fleet.owner)
    for (const [i, screen] of screens.entries()) {
      await page.setViewportSize(screen === 'phone' ? PHONE : DESKTOP)
      await page.emulateMedia({ colorScheme: screen === 'dark' ? 'dark' : 'light' })
      if (i === 0) {
        await page.goto(typeof url === 'string' ? url : url(showcase))
        await act?.({ page, installation, showcase: { ...showcase, ...fleet } })
      }
      await check(page, screen)
    }
    if (!isCut) expect(errors.filter((error) => !error.includes('404'))).toEqual([])

    async function createLabTenant() {
      const lab = await createFleet(installation, { nodes: 0 })
      await installation.given.credential(lab.admin, 'SSH_KEY', { name: 'lab key' })
      await installation.given.credential(lab.admin, 'BASTION', { name: 'lab bastion' })
      return lab
    }
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
    if (screen === 'phone') return
    // There are no frames, so axe needs no page of its own to collect its results.
    // Base UI's focus guards are focusable on purpose: they send the focus back into the popup.
    const axe = new AxeBuilder({ page })
      .options({ resultTypes: ['violations'] })
      .exclude('[data-base-ui-focus-guard]')
      .setLegacyMode()
    // A dark page differs from the light one, which was checked before, in its colors only.
    if (screen === 'dark') axe.withRules('color-contrast')
    else axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'])
    const { violations } = await axe.analyze()
    expect(
      violations.map((violation) => `${violation.id}: ${violation.nodes.map((each) => each.html.slice(0, 160)).join(' | ')}`),
      screen,
    ).toEqual([])
  }
}
