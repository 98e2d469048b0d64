import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildConsole } from './build-console.ts'
import { startTestPostgres } from './postgres/test-postgres.ts'
import { root } from './root.ts'
import {
  closingLine,
  describeFailed,
  describeSkipped,
  failedFiles,
  mergeRerun,
  NO_RESULTS,
  parseKnownSkips,
  type Results,
  readPlaywright,
  readVitest,
  reasonOf,
  type VitestReport,
  withExitCode,
} from './test-results.ts'

// `npm test [-- --long] [-- --e2e] [-- --slurm-lab DIR] [-- FILTER…]`: runs Vitest, then Playwright, on one temporary Postgres. The last line is the total.
// With the environment variable CI, skipped tests that docs/not-run-here.md does not list are a failure.
// Without filters, up to MAX_RERUN_FILES failed Vitest files run again when the machine is quiet; the output names the flaky tests.
const { values, positionals: filters } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    e2e: { type: 'boolean', default: false },
    'slurm-lab': { type: 'string' },
  },
  allowPositionals: true,
})
const playwrightConfig = 'apps/console/playwright.config.ts'
const MAX_RERUN_FILES = 3
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-tests-'))
const postgres = process.env.TEST_DATABASE_URL ? undefined : await startTestPostgres()
const env: NodeJS.ProcessEnv = {
  ...process.env,
  ...(postgres ? { TEST_DATABASE_URL: postgres.url } : {}),
  ...(values.long ? { MUSTER_LONG_TESTS: '1' } : {}),
  ...(values['slurm-lab'] ? { MUSTER_SLURM_LAB: path.resolve(values['slurm-lab']) } : {}),
}
for (const name of ['DATABASE_URL', 'DATABASE_APP_URL', 'DATABASE_SYSTEM_URL', 'MUSTER_DATA_DIR', 'FORCE_COLOR']) delete env[name] // tests set their own
const children = new Set<ReturnType<typeof spawn>>()
let stopping = false
const stop = () => {
  stopping = true
  for (const child of children) child.kill('SIGTERM')
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
process.once('disconnect', stop).channel?.unref()

let total = NO_RESULTS
try {
  if (process.env.ANSIBLE_PLAYBOOK) {
    console.log(`Ansible: ansible-core ${process.env.MUSTER_ANSIBLE_VERSION} (${process.env.ANSIBLE_PLAYBOOK})`)
  }
  if (!values.e2e) add(await vitest())
  if (!stopping && fs.existsSync(path.join(root, playwrightConfig)) && (await selectsBrowserTests())) add(await playwright())
} finally {
  await postgres?.stop()
  fs.rmSync(scratch, { recursive: true, force: true })
}
if (stopping && total.failed.length === 0) total.failed = ['stopped before the end']
const knownSkips = parseKnownSkips(fs.readFileSync(path.join(root, 'docs/not-run-here.md'), 'utf8'))
process.stdout.write(describeSkipped(total.skipped, knownSkips))
const unlisted = total.skipped.filter((test) => reasonOf(test, knownSkips) === undefined)
if (process.env.CI && unlisted.length) {
  console.log(
    `CI requires all tests. Install what the ${unlisted.length} skipped tests need, or list them in docs/not-run-here.md.`,
  )
  total.failed = [...total.failed, ...unlisted]
  total.skipped = total.skipped.filter((test) => !unlisted.includes(test))
}
process.stdout.write(describeFailed(total))
console.log(closingLine(total))
process.exit(total.failed.length > 0 || total.passed === 0 ? 1 : 0)

async function vitest(): Promise<Results> {
  const [report, code] = await runVitest(filters)
  const files = report ? failedFiles(report) : []
  if (!report || filters.length || stopping || files.length === 0 || files.length > MAX_RERUN_FILES)
    return vitestResults(report, code)
  console.log(`Running again, alone: ${files.map((file) => path.relative(root, file)).join(', ')}`)
  const [second, secondCode] = await runVitest(files)
  return mergeRerun(report, vitestResults(second, secondCode))
}

async function runVitest(args: string[]): Promise<[VitestReport | undefined, number | null]> {
  const file = path.join(scratch, 'vitest.json')
  fs.rmSync(file, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const code = await run(['node_modules/vitest/vitest.mjs', 'run', '--passWithNoTests', ...reporters, ...args], env)
  return [fs.existsSync(file) ? readJson<VitestReport>(file) : undefined, code]
}

function vitestResults(report: VitestReport | undefined, code: number | null): Results {
  return withExitCode(report ? readVitest(report) : NO_RESULTS, code)
}

async function playwright(): Promise<Results> {
  await buildConsole()
  const report = path.join(scratch, 'playwright.json')
  const args = ['test', '-c', playwrightConfig, '--reporter=list,json', '--pass-with-no-tests', ...filters]
  const code = await run(['node_modules/@playwright/test/cli.js', ...args], { ...env, PLAYWRIGHT_JSON_OUTPUT_FILE: report })
  return withExitCode(fs.existsSync(report) ? readPlaywright(readJson(report)) : NO_RESULTS, code)
}

/** Whether the filters select a browser test; otherwise the console need not be built. */
async function selectsBrowserTests(): Promise<boolean> {
  if (filters.length === 0) return true
  const files = fs.globSync('apps/console/**/*.spec.ts', {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name === '.next',
  })
  return files.some((file) => filters.some((filter) => file.includes(filter)))
}

/** Runs a Node program in the repository with our terminal; resolves with its exit code. */
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

function add(results: Results): void {
  total = {
    passed: total.passed + results.passed,
    failed: [...total.failed, ...results.failed],
    flaky: [...total.flaky, ...results.flaky],
    skipped: [...total.skipped, ...results.skipped],
  }
}
