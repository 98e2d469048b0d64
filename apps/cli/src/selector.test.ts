import { expect, it } from 'vitest'
import { isHostlist, missingNames } from './selector.ts'

it('finds the names of a hostlist without a node, also inside ranges', () => {
  const names = new Set(['gpu01', 'gpu02', 'gpu04', 'gpu10', 'cpu1', 'r1n1', 'r2n1', 'r2n2'])
  expect(missingNames('gpu[01-04,09-10], cpu1,cpu2', names)).toEqual({ plain: ['cpu2'], ranged: ['gpu03', 'gpu09'] })
  expect(missingNames('r[1-2]n[1-2]', names)).toEqual({ plain: [], ranged: ['r1n2'] })
  expect(missingNames('cpu1', names)).toEqual({ plain: [], ranged: [] })
})

it('distinguishes hostlists from other selectors', () => {
  expect(['gpu01', 'gpu[01-08],cpu1', 'node-1.example'].map(isHostlist)).toEqual([true, true, true])
  expect(['all', 'gpu*', '@rack', 'tag:x', '{memory > 1GiB}', 'gpu01,!gpu02'].map(isHostlist)).toEqual(Array(6).fill(false))
})
