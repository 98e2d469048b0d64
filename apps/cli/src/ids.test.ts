import { expect, it } from 'vitest'
import { missingIn } from './ids.ts'

it('names what is missing of a hostlist, inside of ranges too', () => {
  const there = new Set(['gpu01', 'gpu02', 'gpu04', 'gpu10', 'cpu1', 'r1n1', 'r2n1', 'r2n2'])
  expect(missingIn('gpu[01-04,09-10], cpu1,cpu2', there)).toEqual({ plain: ['cpu2'], ranged: ['gpu03', 'gpu09'] })
  expect(missingIn('r[1-2]n[1-2]', there)).toEqual({ plain: [], ranged: ['r1n2'] })
  expect(missingIn('cpu1', there)).toEqual({ plain: [], ranged: [] })
})
