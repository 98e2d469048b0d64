import { en } from '../../src/messages/en/index.ts'
import { languages } from '../../src/messages/index.ts'
import { zhCN } from '../../src/messages/zh-CN/index.ts'
import { expect, test } from '../fixtures/test.ts'
import { nodeUrl, runUrl } from '../fixtures/urls.ts'
import { t } from '../labels.ts'

type Catalog = { readonly [key: string]: string | Catalog }
const flatten = (catalog: Catalog): string[] =>
  Object.values(catalog).flatMap((value) => (typeof value === 'string' ? [value] : flatten(value)))

/** English messages without placeholders that Chinese pages must not show. */
const chinese = new Set(flatten(zhCN))
const english = new Set(flatten(en).filter((message) => !chinese.has(message) && !/[{<]/.test(message)))

test.describe('in a Chinese browser', () => {
  test.use({ locale: 'zh-CN' })

  test('every page is Chinese, fits a desktop and a phone, and loads without errors', async ({ page, scenes, signIn }) => {
    const { admin, places, runs } = await scenes.showcase()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    await signIn(admin)
    const urls = [
      '/nodes',
      '/nodes/add',
      '/nodes/add?mode=bulk',
      ...['overview', 'accelerators', 'discoveries', 'agent'].map((tab) => `${nodeUrl(places.changed)}?tab=${tab}`),
      '/fleet',
      '/fleet?tab=enrollment&tokens=all',
      '/alerts',
      '/credentials',
      '/runs',
      '/runs/new?template=install_driver&limit=all',
      ...['log', 'hosts', 'events', 'artifacts', 'details'].map((tab) => `${runUrl(runs.PARTIAL)}?tab=${tab}`),
      '/settings/account',
      '/settings/tokens',
      '/settings/agents',
    ]
    for (const url of urls)
      await test.step(url, async () => {
        await page.setViewportSize({ width: 1360, height: 850 })
        await page.goto(url, { waitUntil: 'networkidle' })
        await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN')
        await expect(page.getByRole('heading').filter({ visible: true }).first()).toBeVisible()
        const shown = await page.evaluate(() =>
          [...document.body.querySelectorAll('*')].flatMap((element) => [
            ...(element.children.length === 0 ? [element.textContent.trim()] : []),
            ...['aria-label', 'placeholder', 'title'].flatMap((name) => element.getAttribute(name) ?? []),
          ]),
        )
        expect(shown.some((text) => chinese.has(text))).toBe(true)
        expect(shown.filter((text) => english.has(text))).toEqual([])
        for (const width of [1360, 390]) {
          await page.setViewportSize({ width, height: 850 })
          const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
          await expect.poll(overflow, `pixels by which ${url} scrolls sideways at ${width}`).toBeLessThanOrEqual(0)
        }
        expect(errors).toEqual([])
      })
  })
})

test('applies and keeps the chosen language', async ({ page, createFleet, signIn }) => {
  const { operator } = await createFleet({ nodes: 1 })
  await signIn(operator)
  await page.goto('/nodes')
  await expect(page.getByRole('heading', { name: t('nav.nodes') })).toBeVisible()
  await page.getByRole('button', { name: operator.actor.name }).click()
  await page.getByRole('menuitemradio', { name: languages['zh-CN'], exact: true }).click()
  await expect(page.getByRole('heading', { name: zhCN.nav.nodes })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('heading', { name: zhCN.nav.nodes })).toBeVisible()
})
