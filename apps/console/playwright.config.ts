import fs from 'node:fs'
import { defineConfig } from '@playwright/test'

const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((file) => fs.existsSync(file))

// Browser tests. `*.spec.ts` in e2e/story run against a real product (CONSOLE_URL, else one that the set-up starts); those in
// e2e/looks answer the page's GraphQL themselves, for what no real room of machines shows on demand: 10,000 nodes, errors, a million lines.
export default defineConfig({
  testDir: './e2e',
  testMatch: '**/*.spec.ts',
  outputDir: './test-results',
  globalSetup: './e2e/global-setup.ts',
  // What answers itself is looked at side by side; then the story, alone: a lab that comes or goes ends a browser's connections.
  workers: 2,
  projects: [
    { name: 'looks', testDir: './e2e/looks', fullyParallel: true },
    { name: 'story', testDir: './e2e/story', dependencies: ['looks'] },
  ],
  // Ceilings for a busy machine, not expectations: nothing here asserts how fast something is.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ? [['list'], ['json']] : [['list']],
  use: {
    browserName: 'chromium',
    baseURL: process.env.CONSOLE_URL,
    viewport: { width: 1360, height: 850 },
    screenshot: 'only-on-failure',
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
