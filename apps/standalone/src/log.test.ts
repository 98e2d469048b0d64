import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { formatLogLine } from './format-log-line.ts'
import { openLogFile } from './log-file.ts'

test('a log file is private, bounded, and retains the newest lines', () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-log-'))
  try {
    const file = path.join(dir, 'api.log')
    for (const half of [0, 1]) {
      // The second half appends to the file of the first process.
      const log = openLogFile(file, { maxBytes: 100, rotated: 2 })
      for (let n = 0; n < 25; n++) log.write(`line ${String(half * 25 + n).padStart(4, '0')}\n`)
      log.close()
    }
    expect(fs.readdirSync(dir).sort()).toEqual(['api.log', 'api.log.1', 'api.log.2'])
    const retained = ['api.log.2', 'api.log.1', 'api.log'].map((name) => fs.readFileSync(path.join(dir, name), 'utf8')).join('')
    expect(retained.length).toBeLessThanOrEqual(330)
    expect(retained).toMatch(/line 0048\nline 0049\n$/)
    expect(retained.trim().split('\n').length).toBeGreaterThan(20)
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  } finally {
    fs.rmSync(dir, { recursive: true, force: true })
  }
})

test.each([
  ['{"level":"error","msg":"no answer","err":{"message":"no answer"}}', 'api      error: no answer'],
  ['{"level":40,"msg":"slow"}', 'api      warning: slow'],
  ['{"level":"warn"}', 'api      warning: {"level":"warn"}'],
  ['{"level":"info","msg":"fine"}', undefined],
  ['{"level":', undefined],
  ['Error: plain text', undefined],
])('formats %s as %s', (line, expected) => {
  expect(formatLogLine('api', line)).toBe(expected)
})
