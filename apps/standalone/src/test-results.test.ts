import { expect, test } from 'vitest'
import { closingLine, countPlaywright, countVitest, withExitCode } from './test-results.ts'

test('counts what Vitest reports, and a file that broke before its first test', () => {
  const report = {
    testResults: [
      {
        status: 'failed',
        assertionResults: [{ status: 'passed' }, { status: 'failed' }, { status: 'pending' }, { status: 'todo' }],
      },
      { status: 'failed', assertionResults: [] },
      { status: 'passed', assertionResults: [{ status: 'passed' }] },
    ],
  }
  expect(countVitest(report)).toEqual({ passed: 2, failed: 2, skipped: 2 })
})

test('counts flaky browser tests and errors outside tests as failures', () => {
  expect(countPlaywright({ stats: { expected: 5, unexpected: 1, flaky: 1, skipped: 2 }, errors: [{}] })).toEqual({
    passed: 5,
    failed: 3,
    skipped: 2,
  })
})

test('a runner that ends badly is a failure even when all its tests passed', () => {
  expect(withExitCode({ passed: 3, failed: 0, skipped: 0 }, 1)).toEqual({ passed: 3, failed: 1, skipped: 0 })
  expect(withExitCode({ passed: 3, failed: 2, skipped: 0 }, 1).failed).toBe(2)
})

test('the closing line names skipped tests only when there are some', () => {
  expect(closingLine({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed')
  expect(closingLine({ passed: 12, failed: 1, skipped: 3 })).toBe('12 passed, 1 failed, 3 skipped')
})
