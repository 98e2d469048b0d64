import { expect, type Page, test } from '@playwright/test'
import { pretendApi } from '../pretend/api.ts'
import { pretendWorld } from '../pretend/world.ts'

const run = `/runs/${encodeURIComponent('Um4x0=')}`
const perEvent = 40

/** Events after `after` up to `last`, of `perEvent` lines each; every line says its own number. */
function events(after: number, last: number) {
  return Array.from({ length: last - after }, (_, index) => {
    const seq = after + 1 + index
    const startLine = (seq - 1) * perEvent + 1
    const stdout = Array.from({ length: perEvent }, (_, line) => `this is line ${startLine + line}.`).join('\n')
    return {
      seq,
      kind: 'output',
      host: null,
      play: null,
      task: null,
      action: null,
      isChanged: null,
      durationMs: null,
      stdout,
      startLine,
      lineCount: perEvent,
      createdAt: new Date().toISOString(),
    }
  })
}

type Talk = { next: (first: number, last: number) => void; complete: () => void; cut: () => void }
/** Answer only the log's subscription, as `tell` says; it hears the `after` of each asking. */
async function pretendLog(page: Page, tell: (after: number, talk: Talk) => void) {
  await page.routeWebSocket('**/graphql', (socket) => {
    socket.onMessage((raw) => {
      const message = JSON.parse(String(raw)) as {
        type: string
        id: string
        payload: { query: string; variables: { after?: number } }
      }
      if (message.type === 'connection_init') socket.send(JSON.stringify({ type: 'connection_ack' }))
      if (message.type !== 'subscribe' || !message.payload.query.includes('jobRunEvents')) return
      tell(message.payload.variables.after ?? 0, {
        next: (first, last) => {
          const jobRunEvents = { __typename: 'JobRunEventBatch', lastSeq: last, events: events(first - 1, last) }
          socket.send(JSON.stringify({ id: message.id, type: 'next', payload: { data: { jobRunEvents } } }))
        },
        complete: () => socket.send(JSON.stringify({ id: message.id, type: 'complete' })),
        cut: () => void socket.close({ code: 1012 }),
      })
    })
  })
}

test('a log of a million lines opens, scrolls, is searched and linked into, with few rows in the page', async ({ page }) => {
  await pretendApi(page, pretendWorld({ runStatus: 'SUCCEEDED' }))
  await pretendLog(page, (_, { next, complete }) => {
    for (let first = 1; first <= 25_000; first += 1000) next(first, first + 999)
    complete()
  })
  await page.goto(`${run}#L500000`)
  const log = page.getByTestId('log')
  await expect(page.getByText('1,000,000 lines', { exact: true }).first()).toBeVisible({ timeout: 45_000 })
  await expect(log.locator('[data-line="500000"]')).toContainText('this is line 500000.')
  await log.focus()
  await page.keyboard.press('End')
  await expect(log.locator('[data-line="1000000"]')).toBeVisible()
  expect(await log.locator('[data-line]').count()).toBeLessThan(100)
  await page.keyboard.press('Home')
  await expect(log.locator('[data-line="1"]')).toBeVisible()
  await page.getByLabel('Search the log').fill('line 777777.')
  await expect(page.getByText('1 line', { exact: true })).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(log.locator('[data-line="777777"]')).toBeVisible()
  await page.getByRole('button', { name: 'Wrap long lines' }).click()
  await page.getByTestId('log').focus()
  await page.keyboard.press('End')
  await expect(log.locator('[data-line="1000000"]')).toBeVisible()
})

test('a lost connection is taken up after the last line that came: no gap, no repeat', async ({ page }) => {
  const asked: number[] = []
  await pretendApi(page, pretendWorld({ runStatus: 'RUNNING' }))
  await pretendLog(page, (after, { next, complete, cut }) => {
    asked.push(after)
    if (asked.length === 1) {
      next(1, 3)
      next(4, 5)
      setTimeout(cut, 100)
    } else {
      // The server may send again what was under way; that must not show twice.
      next(after, after + 2)
      next(after + 3, 10)
      complete()
    }
  })
  await page.goto(run)
  await expect(page.getByText('400 lines', { exact: true }).first()).toBeVisible()
  expect(asked).toEqual([0, 5])
  const log = page.getByTestId('log')
  await expect(log.locator('[data-line="400"]')).toContainText('this is line 400.')
  await log.evaluate((box) => box.scrollTo(0, 195 * 20))
  await expect(log.locator('[data-line="201"]')).toContainText('this is line 201.')
})

test('following lets go when the reader scrolls up, counts what comes, and takes hold again', async ({ page }) => {
  let talk: Talk | undefined
  await pretendApi(page, pretendWorld({ runStatus: 'RUNNING' }))
  await pretendLog(page, (_, given) => {
    talk = given
    given.next(1, 5)
  })
  await page.goto(run)
  const log = page.getByTestId('log')
  await expect(log.locator('[data-line="200"]')).toBeVisible()
  talk?.next(6, 10)
  await expect(log.locator('[data-line="400"]')).toBeVisible()
  await log.hover()
  await page.mouse.wheel(0, -500)
  await expect(log).toHaveAttribute('data-following', 'false')
  const before = await log.evaluate((box) => box.scrollTop)
  talk?.next(11, 12)
  await page.getByRole('button', { name: '80 new lines' }).click({ trial: true })
  expect(await log.evaluate((box) => box.scrollTop)).toBe(before)
  await page.getByRole('button', { name: '80 new lines' }).click()
  await expect(log.locator('[data-line="480"]')).toBeVisible()
  await expect(log).toHaveAttribute('data-following', 'true')
})

test('ten thousand nodes scroll to the last, with few rows in the page', async ({ page }) => {
  test.setTimeout(180_000)
  await pretendApi(page, pretendWorld({ nodes: 10_000 }))
  await page.goto('/nodes')
  const rows = page.getByRole('list', { name: 'Nodes' }).getByRole('listitem')
  await expect(rows.first()).toBeVisible()
  await expect(async () => {
    await page.keyboard.press('End')
    await expect(page.getByRole('link', { name: 'gpu10000' })).toBeVisible({ timeout: 100 })
  }).toPass({ timeout: 90_000, intervals: [50] })
  expect(await rows.count()).toBeLessThan(80)
  await page.keyboard.press('Home')
  await page.getByRole('checkbox', { name: 'Select gpu001' }).click()
  await page.getByRole('button', { name: 'Select all 10,000' }).click()
  await expect(page.getByText('10,000 selected')).toBeVisible({ timeout: 60_000 })
})

test('who is not signed in is asked to, and comes back to where they wanted to be', async ({ page }) => {
  await pretendApi(page, pretendWorld({ signedIn: false }))
  await page.goto('/runs?status=FAILED')
  await expect(page).toHaveURL(/\/sign-in\?next=%2Fruns%3Fstatus%3DFAILED$/)
})

test('what could not be loaded says so, and can be tried again', async ({ page }) => {
  const world = pretendWorld({ failing: 'The database is being restarted. Try again in a moment.' })
  await pretendApi(page, world)
  await page.goto('/nodes')
  await expect(page.getByText('The database is being restarted.')).toBeVisible()
  world.failing = null
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('link', { name: 'gpu001' })).toBeVisible()
})

test('the theme that was chosen is there before anything is painted', async ({ page }) => {
  await pretendApi(page, pretendWorld())
  await page.goto('/nodes')
  await page.getByRole('button', { name: 'Ada Park' }).click()
  await page.getByRole('button', { name: 'Dark', exact: true }).click()
  await page.reload({ waitUntil: 'commit' })
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
})

test('the keyboard goes to the search, shows its keys, and leaves', async ({ page }) => {
  await pretendApi(page, pretendWorld())
  await page.goto('/nodes')
  await expect(page.getByRole('link', { name: 'gpu001' })).toBeVisible()
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await page.keyboard.press('/')
  await expect(page.getByLabel('Search nodes')).toBeFocused()
  await page.keyboard.press('Escape')
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await expect(page).toHaveURL(/\/runs$/)
})
