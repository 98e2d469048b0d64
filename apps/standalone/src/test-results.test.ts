import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './root.ts'
import {
  closingLine,
  describeSkipped,
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
        status: 'failed',
        assertionResults: [
          assertion('passed'),
          assertion('failed'),
          assertion('pending', ' a server answers'),
          assertion('todo'),
        ],
      },
      { status: 'failed', assertionResults: [] },
      { status: 'passed', assertionResults: [assertion('passed')] },
    ],
  }
  expect(readVitest(report)).toEqual({ passed: 2, failed: 2, skipped: ['a server answers', 'a test'] })
})

test('reads a Playwright report and counts flaky tests and errors outside of tests as failures', () => {
  const spec = (title: string, status: string) => ({ title, tests: [{ status }] })
  const suites = [
    {
      title: 'nodes.spec.ts',
      specs: [spec('shows nodes', 'expected')],
      suites: [{ title: 'on a phone', specs: [spec('shows nodes', 'skipped')] }],
    },
  ]
  expect(readPlaywright({ stats: { expected: 5, unexpected: 1, flaky: 1 }, suites, errors: [{}] })).toEqual({
    passed: 5,
    failed: 3,
    skipped: ['on a phone shows nodes'],
  })
})

test('counts a non-zero exit code as a failure when all tests passed', () => {
  expect(withExitCode({ passed: 3, failed: 0, skipped: [] }, 1)).toEqual({ passed: 3, failed: 1, skipped: [] })
  expect(withExitCode({ passed: 3, failed: 2, skipped: [] }, 1).failed).toBe(2)
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

test('mentions skipped tests in the last line only when there are some', () => {
  expect(closingLine({ passed: 12, failed: 0, skipped: [] })).toBe('12 passed, 0 failed')
  expect(closingLine({ passed: 12, failed: 1, skipped: ['a', 'b', 'c'] })).toBe('12 passed, 1 failed, 3 skipped')
})
