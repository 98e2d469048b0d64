import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startTestPostgres } from '../postgres/test-postgres.ts'
import { root } from '../root.ts'
import { CORE_FLOWS } from './core-flows.ts'

// `npm run coverage`: runs the tests of each group and prints its line coverage against the goal. Code that runs in child processes, for
// example the API of an end-to-end test, is not counted. The exit code is 1 when a goal is missed.

/** Packages by kind: unit tests need no database and no other process. */
const GROUPS = [
  { name: 'unit', goal: 80, folders: ['packages/discovery', 'packages/protocol', 'packages/slurm'] },
  { name: 'integration', goal: 70, folders: ['packages/core', 'apps/api', 'apps/worker', 'apps/cli', 'apps/agent'] },
]
const FLOW_GOAL = 100

type Report = { testResults: { name: string; assertionResults: { title: string; status: string }[] }[] }
type Summary = { total: { lines: { pct: number; covered: number; total: number } } }

const scratch = mkdtempSync(path.join(tmpdir(), 'muster-coverage-'))
const postgres = await startTestPostgres()
const results: { name: string; percent: number; detail: string; goal: number }[] = []
try {
  const passed = new Set<string>()
  const addPassed = ({ testResults }: Report) => {
    for (const { name, assertionResults } of testResults)
      for (const { title, status } of assertionResults)
        if (status === 'passed') passed.add(`${path.relative(root, name)} ${title}`)
  }
  for (const group of GROUPS) {
    const { summary, report } = await measure(group)
    addPassed(report)
    const { pct, covered, total } = summary.total.lines
    results.push({ name: group.name, percent: pct, detail: `${covered} of ${total} lines`, goal: group.goal })
  }
  const isLong = (file: string) => file.endsWith('.long.test.ts')
  const isMeasured = (file: string) => GROUPS.some(({ folders }) => folders.some((folder) => file.startsWith(`${folder}/`)))
  const files = Object.values(CORE_FLOWS).flatMap((tests) => tests.map(({ file }) => file))
  addPassed(
    await runTests(
      'flows',
      [...new Set(files)].filter((file) => !isMeasured(file) || isLong(file)),
    ),
  )
  const flows = Object.entries(CORE_FLOWS)
  const left = flows.filter(([, tests]) => !tests.every(({ file, title }) => passed.has(`${file} ${title}`)))
  for (const [flow] of left) console.log(`Core flow without a passed test: ${flow}`)
  const percent = ((flows.length - left.length) / flows.length) * 100
  results.push({ name: 'core flows', percent, detail: `${flows.length - left.length} of ${flows.length} flows`, goal: FLOW_GOAL })
} finally {
  await postgres.stop()
  rmSync(scratch, { recursive: true, force: true })
}
for (const { name, percent, detail, goal } of results)
  console.log(
    `${name.padEnd(12)} ${percent.toFixed(1).padStart(5)} %  goal ${goal} %  ${percent >= goal ? 'ok' : 'MISSED'}  (${detail})`,
  )
process.exitCode = results.every(({ percent, goal }) => percent >= goal) ? 0 : 1

async function measure({ name, folders }: (typeof GROUPS)[number]): Promise<{ summary: Summary; report: Report }> {
  const folder = path.join(scratch, name, 'coverage')
  const report = await runTests(name, [
    ...folders.map((each) => `--project=${each}`),
    ...['--coverage.enabled', '--coverage.provider=v8', '--coverage.reporter=json-summary', '--coverage.reportOnFailure'],
    `--coverage.reportsDirectory=${folder}`,
    // Relative to each project.
    ...['ts', 'tsx'].map((extension) => `--coverage.include=src/**/*.${extension}`),
    ...['**/*.test.ts', '**/testing/**', '**/*.d.ts'].map((pattern) => `--coverage.exclude=${pattern}`),
  ])
  return { summary: read(path.join(folder, 'coverage-summary.json')), report }
}

/** @returns the report of the tests, also of failed ones */
async function runTests(name: string, args: string[]): Promise<Report> {
  const file = path.join(scratch, name, 'tests.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args], {
    cwd: root,
    env: { ...process.env, TEST_DATABASE_URL: postgres.url, ...(name === 'flows' ? { MUSTER_LONG_TESTS: '1' } : {}) },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  await new Promise((resolve) => child.once('exit', resolve))
  return read(file)
}

function read<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T
}
