/** Test counts, and the full names of skipped tests. */
export type Results = { passed: number; failed: number; skipped: string[] }

/** The fields that are read from the file of Vitest's `--reporter=json` (Jest's format). */
type VitestReport = {
  testResults: { status: string; assertionResults: { status: string; fullName: string }[] }[]
}

/** The fields that are read from Playwright's JSON report; `errors` occurred outside of tests. */
type PlaywrightReport = {
  stats: { expected: number; unexpected: number; flaky: number }
  suites: PlaywrightSuite[]
  errors?: unknown[]
}
type PlaywrightSuite = { title: string; specs: { title: string; tests: { status: string }[] }[]; suites?: PlaywrightSuite[] }

/** Results of a Vitest report. A file that failed before its first test counts as one failure. */
export function readVitest(report: VitestReport): Results {
  const results: Results = { passed: 0, failed: 0, skipped: [] }
  for (const file of report.testResults) {
    const failedBefore = results.failed
    for (const { status, fullName } of file.assertionResults) {
      if (status === 'passed') results.passed++
      else if (status === 'failed') results.failed++
      else results.skipped.push(fullName.trim())
    }
    if (file.status === 'failed' && results.failed === failedBefore) results.failed++
  }
  return results
}

/** Results of a Playwright report. A test that passed only on retry counts as a failure. */
export function readPlaywright({ stats, suites, errors = [] }: PlaywrightReport): Results {
  // The title of a top-level suite is its file.
  const skipped = suites.flatMap((file) => skippedIn(file, []))
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky + errors.length, skipped }
}

function skippedIn(suite: PlaywrightSuite, titles: string[]): string[] {
  const own = suite.specs.filter(({ tests }) => tests.some(({ status }) => status === 'skipped'))
  return [
    ...own.map(({ title }) => [...titles, title].join(' ')),
    ...(suite.suites ?? []).flatMap((child) => skippedIn(child, [...titles, child.title])),
  ]
}

/** Counts a non-zero exit code without a failed test (an unhandled rejection, a crash) as one failure. */
export function withExitCode(results: Results, code: number | null): Results {
  return code !== 0 && results.failed === 0 ? { ...results, failed: 1 } : results
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

/** The last line of the output: `12 passed, 0 failed`, with `, 3 skipped` when tests were skipped. */
export function closingLine({ passed, failed, skipped }: Results): string {
  return `${passed} passed, ${failed} failed${skipped.length ? `, ${skipped.length} skipped` : ''}`
}
