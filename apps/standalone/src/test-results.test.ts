import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './root.ts'
import {
  closingLine,
  describeFailed,
  describeSkipped,
  failedFiles,
  mergeRerun,
  NO_RESULTS,
  parseKnownSkips,
  readPlaywright,
  readVitest,
  reasonOf,
  withExitCode,
} from './test-results.ts'

const assertion = (status: string, fullName = 'a test') => ({ status, fullName })

test('reads a Vitest report and counts a file that failed before its first test', () => {
  const report = {
    testResults: [
      {
        name: 'server.test.ts',
        status: 'failed',
        assertionResults: [
          assertion('passed'),
          assertion('failed', ' a server stops'),
          assertion('pending', ' a server answers'),
          assertion('todo'),
        ],
      },
      { name: 'broken.test.ts', status: 'failed', assertionResults: [] },
      { name: 'nodes.test.ts', status: 'passed', assertionResults: [assertion('passed')] },
    ],
  }
  expect(readVitest(report)).toEqual({
    passed: 2,
    failed: ['a server stops', 'broken.test.ts'],
    flaky: [],
    skipped: ['a server answers', 'a test'],
  })
  expect(failedFiles(report)).toEqual(['server.test.ts', 'broken.test.ts'])
})

test('counts files that ran again with their second results, and names the flaky tests', () => {
  const file = (name: string, status: string, ...assertionResults: { status: string; fullName: string }[]) => ({
    name,
    status,
    assertionResults,
  })
  const first = {
    testResults: [
      file('a.test.ts', 'failed', assertion('failed', 'times out'), assertion('failed', 'is wrong'), assertion('passed')),
      file('b.test.ts', 'passed', assertion('passed'), assertion('passed')),
    ],
  }
  const second = {
    testResults: [file('a.test.ts', 'failed', assertion('passed'), assertion('failed', 'is wrong'), assertion('passed'))],
  }
  expect(mergeRerun(first, readVitest(second))).toEqual({ passed: 4, failed: ['is wrong'], flaky: ['times out'], skipped: [] })
})

test('reads a Playwright report with flaky tests and errors outside of tests', () => {
  const spec = (title: string, status: string) => ({ title, tests: [{ status }] })
  const suites = [
    {
      title: 'nodes.spec.ts',
      specs: [spec('shows nodes', 'expected'), spec('adds a node', 'unexpected'), spec('edits a node', 'flaky')],
      suites: [{ title: 'on a phone', specs: [spec('shows nodes', 'skipped')] }],
    },
  ]
  expect(readPlaywright({ stats: { expected: 1 }, suites, errors: [{ message: 'no server' }] })).toEqual({
    passed: 2,
    failed: ['adds a node', 'no server'],
    flaky: ['edits a node'],
    skipped: ['on a phone shows nodes'],
  })
})

test('counts a non-zero exit code as a failure when all tests passed', () => {
  const passed = { ...NO_RESULTS, passed: 3 }
  expect(withExitCode(passed, 0)).toEqual(passed)
  expect(withExitCode(passed, 1)).toEqual({ ...passed, failed: ['exit code 1 without a failed test'] })
  expect(withExitCode({ ...passed, failed: ['a', 'b'] }, 1).failed).toEqual(['a', 'b'])
})

test('finds the reason of a skipped test by its title or its group', () => {
  const known = parseKnownSkips(
    '# Not run here\n\n| Test | Reason |\n| --- | :-- |\n| an S3 server | needs PyPI |\n| no reason | |\n',
  )
  expect([...known]).toEqual([['an S3 server', 'needs PyPI']])
  expect(reasonOf('an S3 server', known)).toBe('needs PyPI')
  expect(reasonOf('an S3 server stores files', known)).toBe('needs PyPI')
  expect(reasonOf('an S3 servers', known)).toBeUndefined()
  expect(describeSkipped(['an S3 server stores files', 'other'], known)).toBe(
    'Skipped: other\nSkipped: an S3 server stores files (needs PyPI)\n',
  )
})

test('docs/not-run-here.md lists only titles of existing tests', () => {
  const listed = [...parseKnownSkips(fs.readFileSync(path.join(root, 'docs/not-run-here.md'), 'utf8')).keys()]
  const sources = ['apps', 'packages']
    .flatMap((folder) => fs.globSync(`${folder}/*/{src,e2e}/**/*.{test,spec}.ts`, { cwd: root }))
    .map((file) => fs.readFileSync(path.join(root, file), 'utf8'))
  expect(listed.filter((title) => !sources.some((source) => source.includes(title)))).toEqual([])
})

test('mentions flaky and skipped tests in the last line only when there are some', () => {
  const results = { passed: 12, failed: ['x'], flaky: ['y'], skipped: ['a', 'b', 'c'] }
  expect(closingLine({ ...NO_RESULTS, passed: 12 })).toBe('12 passed, 0 failed')
  expect(closingLine(results)).toBe('12 passed, 1 failed, 1 flaky, 3 skipped')
  expect(describeFailed(results)).toBe('Failed: x\nFlaky: y (failed, then passed when it ran again)\n')
})
