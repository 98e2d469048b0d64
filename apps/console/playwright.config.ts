import fs from 'node:fs'
import { defineConfig } from '@playwright/test'

const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((file) => fs.existsSync(file))

// Browser tests, all against the real API. Those of `pages` (layout, accessibility, features) run in parallel: each worker has an API
// process on a database of its own, seeded by e2e/fixtures. They are one project, because a worker serves only one. `main-job` runs the whole product with a lab and not in parallel: a lab that
// starts or stops changes the network of the host, and Chromium then drops its connections.
export default defineConfig({
  testDir: './e2e',
  outputDir: './test-results',
  globalSetup: './e2e/fixtures/console-server.ts',
  // Node runs the TypeScript sources of other packages; without this, Playwright compiles them, which takes 10 CPU seconds in a new clone.
  build: { external: ['**/packages/**', '**/apps/{api,standalone}/**'] },
  workers: 3,
  projects: [
    { name: 'pages', testMatch: '{features,visual}/*.spec.ts', fullyParallel: true },
    { name: 'main-job', testMatch: 'main-job.spec.ts', dependencies: ['pages'] },
  ],
  // Upper bounds for a busy machine; no test asserts a duration.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  // A retried test that passes is reported as flaky.
  retries: process.env.CI ? 1 : 0,
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ? [['list'], ['json']] : [['list']],
  use: {
    browserName: 'chromium',
    viewport: { width: 1360, height: 850 },
    screenshot: 'only-on-failure',
    // Without a graphics card, a pulsing dot costs half a core.
    contextOptions: { reducedMotion: 'reduce' },
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH ?? installed,
      args: [
        '--no-sandbox',
        '--disable-dev-shm-usage',
        '--disable-gpu',
        '--disable-quic',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
      ],
    },
  },
})
