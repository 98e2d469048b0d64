/** How many tests ended how. */
export type Counts = { passed: number; failed: number; skipped: number }

/** The parts of Vitest's `--reporter=json` file (Jest's shape) that count. */
type VitestReport = {
  testResults: { status: string; assertionResults: { status: string }[] }[]
}

/** The parts of Playwright's JSON reporter that count; `errors` are those outside any test. */
type PlaywrightReport = {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number }
  errors?: unknown[]
}

/** Counts from Vitest. A file that broke before its first test is one failure: it must not vanish from the sum. */
export function countVitest(report: VitestReport): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const file of report.testResults) {
    const failedBefore = counts.failed
    for (const { status } of file.assertionResults) {
      if (status === 'passed') counts.passed++
      else if (status === 'failed') counts.failed++
      else counts.skipped++
    }
    if (file.status === 'failed' && counts.failed === failedBefore) counts.failed++
  }
  return counts
}

/** Counts from Playwright. A test that passed only at a second try is a failure. */
export function countPlaywright({ stats, errors = [] }: PlaywrightReport): Counts {
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky + errors.length, skipped: stats.skipped }
}

/** A runner that ended badly although no test of it failed (an unhandled rejection, a crash) is one failure. */
export function withExitCode(counts: Counts, code: number | null): Counts {
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}

/** The closing line: `12 passed, 0 failed`, with `, 3 skipped` where some were. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`
}
