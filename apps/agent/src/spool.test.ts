import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createTempDir } from '../test/temp-files.ts'
import { SPOOL_MAX_AGE_MS, Spool } from './spool.ts'

test('holds one hour and 8 MiB, and counts dropped heartbeats', () => {
  const spool = new Spool(createTempDir())
  const start = Date.now()
  const push = (n: number, json = '{}', ms = n) => spool.push({ boot_epoch: 1, sequence_number: n }, new Date(start + ms), json)
  push(1)
  push(2, '{}', SPOOL_MAX_AGE_MS)
  push(3, '{}', SPOOL_MAX_AGE_MS + 2)
  expect([spool.size, spool.dropped, spool.first()?.position.sequence_number]).toEqual([2, 1, 2])
  for (let n = 4; n < 20; n++) push(n, 'x'.repeat(1024 * 1024), SPOOL_MAX_AGE_MS + n)
  expect([spool.size, spool.dropped]).toEqual([8, 11])
})

test('restores persisted heartbeats in order and deletes unexpected files', () => {
  const stateDir = createTempDir()
  const spool = new Spool(stateDir)
  for (const n of [2, 10, 9]) spool.push({ boot_epoch: 3, sequence_number: n }, new Date(), `{"n":${n}}`)
  spool.persist()
  fs.writeFileSync(path.join(stateDir, 'spool/half.json.new'), '{')
  const restored = new Spool(stateDir)
  const numbers: number[] = []
  for (let first = restored.first(); first; first = restored.first()) {
    numbers.push(JSON.parse(first.json).n)
    restored.remove(first.position)
  }
  expect(numbers).toEqual([2, 9, 10])
  expect(fs.readdirSync(path.join(stateDir, 'spool'))).toEqual([])
})

test('drops a persisted heartbeat whose file is missing', () => {
  const stateDir = createTempDir()
  const spool = new Spool(stateDir)
  spool.push({ boot_epoch: 1, sequence_number: 1 }, new Date(), '{}')
  spool.persist()
  fs.rmSync(path.join(stateDir, 'spool'), { recursive: true })
  expect([spool.first(), spool.size, spool.dropped]).toEqual([undefined, 0, 1])
})
