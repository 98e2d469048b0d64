import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../test/tree.ts'
import { SPOOL_AGE, Spool } from './spool.ts'
import { Sequence } from './state.ts'

const at = (milliseconds: number) => new Date(milliseconds)

test('the position is on the disk before it is given out, and every start begins a later epoch', () => {
  const place = folder()
  const first = new Sequence(place, at(1000))
  expect(first.next()).toEqual({ boot_epoch: 1000, sequence_number: 1 })
  expect(JSON.parse(fs.readFileSync(path.join(place, 'sequence.json'), 'utf8'))).toEqual({ boot_epoch: 1000, sequence_number: 1 })
  expect(new Sequence(place, at(1000)).next()).toEqual({ boot_epoch: 1001, sequence_number: 1 })
  // A clock that was set back.
  expect(new Sequence(place, at(5)).next().boot_epoch).toBe(1002)
  fs.rmSync(path.join(place, 'sequence.json'))
  expect(new Sequence(place, at(2000)).next().boot_epoch).toBe(2000)
})

test.each(['', '{', '[]', '{"boot_epoch":"7"}', '{"boot_epoch":-1}', 'null'])('a file with %j is as none', (content) => {
  const place = folder()
  fs.writeFileSync(path.join(place, 'sequence.json'), content)
  expect(new Sequence(place, at(9)).next().boot_epoch).toBe(9)
})

test('the spool keeps an hour and eight megabytes, and counts what it drops', () => {
  const spool = new Spool(folder())
  const from = Date.now()
  const push = (n: number, json = '{}', ms = n) => spool.push({ boot_epoch: 1, sequence_number: n }, new Date(from + ms), json)
  push(1)
  push(2, '{}', SPOOL_AGE)
  push(3, '{}', SPOOL_AGE + 2)
  expect([spool.size, spool.dropped, spool.first()?.position.sequence_number]).toEqual([2, 1, 2])
  for (let n = 4; n < 20; n++) push(n, 'x'.repeat(1024 * 1024), SPOOL_AGE + n)
  expect([spool.size, spool.dropped]).toEqual([8, 11])
})

test('what was kept is there again in order; strange files are cleared away', () => {
  const place = folder()
  const spool = new Spool(place)
  for (const n of [2, 10, 9]) spool.push({ boot_epoch: 3, sequence_number: n }, new Date(), `{"n":${n}}`)
  spool.keep()
  fs.writeFileSync(path.join(place, 'spool/half.json.new'), '{')
  const again = new Spool(place)
  const numbers: number[] = []
  for (let first = again.first(); first; first = again.first()) {
    numbers.push(JSON.parse(first.json).n)
    again.remove(first.position)
  }
  expect(numbers).toEqual([2, 9, 10])
  expect(fs.readdirSync(path.join(place, 'spool'))).toEqual([])
})

test('a kept beat whose file is gone is dropped', () => {
  const place = folder()
  const spool = new Spool(place)
  spool.push({ boot_epoch: 1, sequence_number: 1 }, new Date(), '{}')
  spool.keep()
  fs.rmSync(path.join(place, 'spool'), { recursive: true })
  expect([spool.first(), spool.size, spool.dropped]).toEqual([undefined, 0, 1])
})
