import { afterEach, expect, it, vi } from 'vitest'
import { type Comparison, interleave, median, percentile, report, type Sample } from './compare.ts'

afterEach(() => vi.restoreAllMocks())

it('computes nearest-rank percentiles of unsorted values', () => {
  const values = [5, 1, 4, 2, 3]
  expect(median(values)).toBe(3)
  expect([0, 0.2, 0.21, 0.95, 1].map((p) => percentile(values, p))).toEqual([1, 1, 2, 5, 5])
  expect(values).toEqual([5, 1, 4, 2, 3])
  expect(percentile([], 0.5)).toBeNaN()
})

it('interleaves the contenders and alternates the first one', async () => {
  const order: string[] = []
  const contender = (name: string, value: number) => async () => {
    order.push(name)
    return value
  }
  const samples = await interleave(contender('ours', 1), contender('peer', 2), 3, () => {})
  expect(order).toEqual(['ours', 'peer', 'peer', 'ours', 'ours', 'peer'])
  expect(samples).toEqual(Array(3).fill({ ours: 1, peer: 2 }))
})

/** What `report` prints and answers for one comparison. */
function reported(comparison: Partial<Comparison>, samples: Sample[]) {
  let printed = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text
    return true
  })
  const isOk = report('b', [{ comparison: { what: 'w', unit: 'u', kind: 'throughput', goal: 1, ...comparison }, samples }])
  vi.restoreAllMocks()
  const last = JSON.parse(printed.trimEnd().split('\n').at(-1)!)
  return { isOk, printed, last }
}

it('reports medians, their ratio and the worst round; the last line is JSON', () => {
  const samples = [
    { ours: 30, peer: 10 },
    { ours: 20, peer: 10 },
    { ours: 10, peer: 20 },
  ]
  const { isOk, printed, last } = reported({ goal: 2 }, samples)
  expect(last).toEqual({ bench: 'b', ratios: { w: { ours: 20, peer: 10, ratio: 2, worst: 0.5, goal: 2, ok: true } } })
  expect(isOk).toBe(true)
  expect(printed).toContain('>= 2x')
  expect(reported({ kind: 'cost' }, samples).last.ratios.w.worst).toBe(3)
})

it('a throughput must reach its goal, a cost must not exceed it', () => {
  const even = [{ ours: 10, peer: 10 }]
  expect(reported({ goal: 1 }, even).isOk).toBe(true)
  expect(reported({ goal: 1.01 }, even).isOk).toBe(false)
  expect(reported({ kind: 'cost', goal: 1 }, even).isOk).toBe(true)
  expect(reported({ kind: 'cost', goal: 0.99 }, even).isOk).toBe(false)
  expect(reported({ goal: 1.01 }, even).printed).toContain('MISSED')
})

it('a comparison without samples misses its goal', () => {
  expect(reported({}, []).isOk).toBe(false)
  expect(reported({ kind: 'cost' }, []).isOk).toBe(false)
})
