import { insertRun } from '@muster/core/testing'
import { expect, test } from '../fixtures/test.ts'
import { runUrl } from '../fixtures/urls.ts'
import { workerOf } from '../fixtures/worker-of.ts'

const policyOf = (headers: Record<string, string>) => headers['content-security-policy'] ?? ''
const nonceOf = (policy: string) => /'nonce-([^']+)'/.exec(policy)?.[1]

test('every page has a policy with a nonce of its own and without exceptions', async ({ page }) => {
  const policies: string[] = []
  for (const path of ['/sign-in', '/sign-in', '/nodes', '/no/such/page']) {
    const response = await page.goto(path)
    policies.push(policyOf(await response!.allHeaders()))
    expect(await response!.allHeaders()).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' })
  }
  for (const policy of policies) {
    expect(policy).toMatch(/^default-src 'self'; script-src 'self' 'nonce-[\w+/=]{24}'; style-src 'self'; /)
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  }
  expect(new Set(policies.map(nonceOf)).size).toBe(4)
})

test('injected markup runs no script', async ({ page }) => {
  const violations: string[] = []
  await page.exposeFunction('reportViolation', (directive: string) => violations.push(directive))
  await page.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
      (window as unknown as { reportViolation(text: string): void }).reportViolation(effectiveDirective),
    ),
  )
  // Markup that an attacker got into the server's response.
  await page.route('**/sign-in', async (route) => {
    const response = await route.fetch()
    const markup = '<script>window.ran = "inline"</script><script nonce="guess">window.ran = "nonce"</script>'
    await route.fulfill({ response, body: (await response.text()).replace('<body>', `<body>${markup}`) })
  })
  await page.goto('/sign-in')
  await expect.poll(() => violations).toEqual(['script-src-elem', 'script-src-elem'])
  // Markup that an attacker got into the page of a user.
  await page.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'window.ran = "element"'
    const box = document.createElement('div')
    box.innerHTML = '<img src="data:," onerror="window.ran = \'handler\'"><a href="javascript:window.ran = \'link\'">link</a>'
    const elsewhere = document.createElement('script')
    elsewhere.src = 'https://attacker.invalid/x.js'
    document.body.append(script, box, elsewhere)
    box.querySelector('a')!.click()
  })
  await expect
    .poll(() => violations.slice(2).sort())
    .toEqual(['script-src-attr', 'script-src-elem', 'script-src-elem', 'script-src-elem'])
  expect(await page.evaluate(() => (window as unknown as { ran?: string }).ran)).toBeUndefined()
})

test('shows markup in a log as text, with its colors', async ({ page, createFleet, signIn }) => {
  const fleet = await createFleet({ nodes: 1 })
  const run = await insertRun(fleet.operator, { status: 'RUNNING', nodes: fleet.nodes })
  const markup = `<img src="x" onerror="document.title='ran'"><script>document.title='ran'</script>`
  await workerOf(fleet, run).appendText(`\x1b[0;31m${markup}\x1b[0m\nplain\n`)
  await signIn(fleet.operator)
  await page.goto(runUrl(run))
  const line = page.getByTestId('log').locator('[data-line="1"] [data-text]')
  await expect(line).toHaveText(markup)
  await expect(line.locator('span')).toHaveClass('ansi-red-fg')
  expect(await line.locator('img, script').count()).toBe(0)
})
