import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildConsole } from './build-console.ts'
import { root } from './root.ts'
import { startTestPostgres } from './test-postgres.ts'
import { type Counts, closingLine, countPlaywright, countVitest, withExitCode } from './test-results.ts'

// `npm test [-- --long] [-- --e2e] [-- FILTER…]`: Vitest, then Playwright, on one throw-away Postgres. The last line is the sum.
const { values, positionals: filters } = parseArgs({
  options: { long: { type: 'boolean', default: false }, e2e: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const playwrightConfig = 'apps/console/playwright.config.ts'
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-tests-'))
const postgres = process.env.TEST_DATABASE_URL ? undefined : await startTestPostgres()
const env: NodeJS.ProcessEnv = {
  ...process.env,
  ...(postgres ? { TEST_DATABASE_URL: postgres.url } : {}),
  ...(values.long ? { MUSTER_LONG_TESTS: '1' } : {}),
}
for (const name of ['DATABASE_URL', 'MUSTER_DATA_DIR', 'FORCE_COLOR']) delete env[name] // tests make their own
const children = new Set<ReturnType<typeof spawn>>()
let stopping = false
const stop = () => {
  stopping = true
  for (const child of children) child.kill('SIGTERM')
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
process.once('disconnect', stop).channel?.unref()

let total: Counts = { passed: 0, failed: 0, skipped: 0 }
try {
  if (process.env.ANSIBLE_PLAYBOOK) {
    console.log(`Ansible: ansible-core ${process.env.MUSTER_ANSIBLE_VERSION} (${process.env.ANSIBLE_PLAYBOOK})`)
  }
  if (!values.e2e) add(await vitest())
  if (!stopping && fs.existsSync(path.join(root, playwrightConfig)) && (await hasBrowserTests())) add(await playwright())
} finally {
  await postgres?.stop()
  fs.rmSync(scratch, { recursive: true, force: true })
}
if (stopping) total.failed ||= 1
console.log(closingLine(total))
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0)

async function vitest(): Promise<Counts> {
  const report = path.join(scratch, 'vitest.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const code = await run(['node_modules/vitest/vitest.mjs', 'run', '--passWithNoTests', ...reporters, ...filters], env)
  return withExitCode(fs.existsSync(report) ? countVitest(readJson(report)) : { passed: 0, failed: 1, skipped: 0 }, code)
}

async function playwright(): Promise<Counts> {
  await buildConsole()
  const report = path.join(scratch, 'playwright.json')
  const args = ['test', '-c', playwrightConfig, '--reporter=list,json', '--pass-with-no-tests', ...filters]
  const code = await run(['node_modules/@playwright/test/cli.js', ...args], { ...env, PLAYWRIGHT_JSON_OUTPUT_FILE: report })
  return withExitCode(fs.existsSync(report) ? countPlaywright(readJson(report)) : { passed: 0, failed: 1, skipped: 0 }, code)
}

/** With a filter that names no browser test there is nothing to build a console for. */
async function hasBrowserTests(): Promise<boolean> {
  if (filters.length === 0) return true
  const files = fs.globSync('apps/console/**/*.spec.ts', {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name === '.next',
  })
  return files.some((file) => filters.some((filter) => file.includes(filter)))
}

/** Run a Node program in the repository with our terminal; resolves with its exit code. */
function run(argv: string[], childEnv: NodeJS.ProcessEnv): Promise<number | null> {
  const child = spawn(process.execPath, argv, { cwd: root, env: childEnv, stdio: ['ignore', 'inherit', 'inherit'] })
  children.add(child)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      children.delete(child)
      resolve(code)
    })
  })
}

function readJson<T>(file: string): T {
  return JSON.parse(fs.readFileSync(file, 'utf8')) as T
}

function add(counts: Counts): void {
  total = { passed: total.passed + counts.passed, failed: total.failed + counts.failed, skipped: total.skipped + counts.skipped }
}
