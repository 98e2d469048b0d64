import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createTempDir } from '../test/temp-files.ts'
import { Sequence } from './sequence.ts'

const at = (milliseconds: number) => new Date(milliseconds)

test('persists each position before returning it and begins a greater epoch at every start', () => {
  const stateDir = createTempDir()
  const first = new Sequence(stateDir, at(1000))
  expect(first.next()).toEqual({ boot_epoch: 1000, sequence_number: 1 })
  const stored = JSON.parse(fs.readFileSync(path.join(stateDir, 'sequence.json'), 'utf8'))
  expect(stored).toEqual({ boot_epoch: 1000, sequence_number: 1 })
  expect(new Sequence(stateDir, at(1000)).next()).toEqual({ boot_epoch: 1001, sequence_number: 1 })
  // The clock was set back.
  expect(new Sequence(stateDir, at(5)).next().boot_epoch).toBe(1002)
  fs.rmSync(path.join(stateDir, 'sequence.json'))
  expect(new Sequence(stateDir, at(2000)).next().boot_epoch).toBe(2000)
})

test.each(['', '{', '[]', '{"boot_epoch":"7"}', '{"boot_epoch":-1}', 'null'])('ignores a file with %j', (content) => {
  const stateDir = createTempDir()
  fs.writeFileSync(path.join(stateDir, 'sequence.json'), content)
  expect(new Sequence(stateDir, at(9)).next().boot_epoch).toBe(9)
})
