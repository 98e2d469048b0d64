import fs from 'node:fs'
import { defineConfig } from '@playwright/test'

const chromium = process.env.CHROMIUM_PATH ?? (fs.existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : undefined)

// Browser tests. `*.spec.ts` in e2e/story run against a real product (CONSOLE_URL, else one that the set-up starts); those in
// e2e/looks answer the page's GraphQL themselves, for what no real room of machines shows on demand: 10,000 nodes, errors, a million lines.
export default defineConfig({
  testDir: './e2e',
  testMatch: '**/*.spec.ts',
  outputDir: './test-results',
  globalSetup: './e2e/global-setup.ts',
  workers: process.env.CI ? 1 : 2,
  fullyParallel: false,
  // Ceilings for a busy machine, not expectations: nothing here asserts how fast something is.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ? [['list'], ['json']] : [['list']],
  use: {
    browserName: 'chromium',
    baseURL: process.env.CONSOLE_URL,
    viewport: { width: 1360, height: 850 },
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: chromium,
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
