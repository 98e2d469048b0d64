/** The number of passed tests, and the full names of the others. A flaky test passed only when it ran again. */
export type Results = { passed: number; failed: string[]; flaky: string[]; skipped: string[] }

export const NO_RESULTS: Results = { passed: 0, failed: [], flaky: [], skipped: [] }

/** The fields that are read from the file of Vitest's `--reporter=json` (Jest's format). */
export type VitestReport = {
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[]
}

/** The fields that are read from Playwright's JSON report; `errors` occurred outside of tests. */
type PlaywrightReport = {
  stats: { expected: number }
  suites: PlaywrightSuite[]
  errors?: { message?: string }[]
}
type PlaywrightSuite = { title: string; specs: { title: string; tests: { status: string }[] }[]; suites?: PlaywrightSuite[] }

/** Results of a Vitest report. A file that failed before its first test counts as one failure, with the name of the file. */
export function readVitest(report: VitestReport): Results {
  const results: Results = { passed: 0, failed: [], flaky: [], skipped: [] }
  for (const file of report.testResults) {
    const failedBefore = results.failed.length
    for (const { status, fullName } of file.assertionResults) {
      if (status === 'passed') results.passed++
      else if (status === 'failed') results.failed.push(fullName.trim())
      else results.skipped.push(fullName.trim())
    }
    if (file.status === 'failed' && results.failed.length === failedBefore) results.failed.push(file.name)
  }
  return results
}

/** Paths of the files with a failed test in a Vitest report. */
export const failedFiles = ({ testResults }: VitestReport): string[] =>
  testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)

/** Results of a Vitest report whose failed files ran again with the results `second`. */
export function mergeRerun({ testResults }: VitestReport, second: Results): Results {
  const once = readVitest({ testResults: testResults.filter(({ status }) => status !== 'failed') })
  const before = readVitest({ testResults }).failed
  return {
    passed: once.passed + second.passed,
    failed: second.failed,
    flaky: before.filter((name) => !second.failed.includes(name)),
    skipped: [...once.skipped, ...second.skipped],
  }
}

/** Results of a Playwright report. Playwright calls a test flaky that passed when it was retried. */
export function readPlaywright({ stats, suites, errors = [] }: PlaywrightReport): Results {
  // The title of a top-level suite is its file.
  const withStatus = (status: string) => suites.flatMap((file) => namesIn(file, status, []))
  const flaky = withStatus('flaky')
  return {
    passed: stats.expected + flaky.length,
    failed: [...withStatus('unexpected'), ...errors.map(({ message = 'an error outside of tests' }) => message)],
    flaky,
    skipped: withStatus('skipped'),
  }
}

function namesIn(suite: PlaywrightSuite, status: string, titles: string[]): string[] {
  const own = suite.specs.filter(({ tests }) => tests.some((test) => test.status === status))
  return [
    ...own.map(({ title }) => [...titles, title].join(' ')),
    ...(suite.suites ?? []).flatMap((child) => namesIn(child, status, [...titles, child.title])),
  ]
}

/** Counts a non-zero exit code without a failed test (an unhandled rejection, a crash) as one failure. */
export function withExitCode(results: Results, code: number | null): Results {
  return code !== 0 && results.failed.length === 0 ? { ...results, failed: [`exit code ${code} without a failed test`] } : results
}

/** Reads the tables of docs/not-run-here.md: `| test or group title | reason |`. */
export function parseKnownSkips(markdown: string): Map<string, string> {
  const rows = [...markdown.matchAll(/^\|([^|]+)\|([^|]+)\|\s*$/gm)].map(([, title, reason]) => [title!.trim(), reason!.trim()])
  const isHeader = (title: string) => title === 'Test' || /^:?-+:?$/.test(title)
  return new Map(rows.filter(([title, reason]) => !isHeader(title!) && reason) as [string, string][])
}

/** The reason of a skipped test: of its own title, or of a group that contains it; undefined when it is not listed. */
export function reasonOf(test: string, known: Map<string, string>): string | undefined {
  for (const [title, reason] of known) if (test === title || test.startsWith(`${title} `)) return reason
  return undefined
}

/** Lists skipped tests, those without a known reason first; '' when there are none. */
export function describeSkipped(skipped: string[], known: Map<string, string>): string {
  const lines = skipped.map((test) => ({ test, reason: reasonOf(test, known) }))
  lines.sort((a, b) => Number(a.reason !== undefined) - Number(b.reason !== undefined))
  return lines.map(({ test, reason }) => `Skipped: ${test}${reason ? ` (${reason})` : ''}\n`).join('')
}

/** Lists failed tests, and those that passed only when they ran again; '' when there are none. */
export const describeFailed = ({ failed, flaky }: Results): string =>
  [
    ...failed.map((test) => `Failed: ${test}\n`),
    ...flaky.map((test) => `Flaky: ${test} (failed, then passed when it ran again)\n`),
  ].join('')

/** The last line of the output: `12 passed, 0 failed`, with `, 1 flaky` and `, 3 skipped` when there are such tests. */
export function closingLine({ passed, failed, flaky, skipped }: Results): string {
  const others = [
    [flaky, 'flaky'],
    [skipped, 'skipped'],
  ] as const
  return [
    `${passed} passed, ${failed.length} failed`,
    ...others.filter(([tests]) => tests.length).map(([tests, status]) => `${tests.length} ${status}`),
  ].join(', ')
}
