import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expandHostlist, foldHostlist, splitHostlist } from './hostlist.ts'

describe('expandHostlist', () => {
  test.each([
    ['gpu1', ['gpu1']],
    ['gpu[1-3]', ['gpu1', 'gpu2', 'gpu3']],
    ['gpu[001-003,100]', ['gpu001', 'gpu002', 'gpu003', 'gpu100']],
    ['gpu[08-11]', ['gpu08', 'gpu09', 'gpu10', 'gpu11']],
    ['rack[1-2]n[01-02]', ['rack1n01', 'rack1n02', 'rack2n01', 'rack2n02']],
    ['a[1-2].x, b\nc , a1.x', ['a1.x', 'a2.x', 'b', 'c']],
    ['', []],
    [' , ', []],
  ])('%j', (text, names) => {
    expect(expandHostlist(text)).toEqual(names)
  })

  test.each([
    ['gpu[1-', /pair up/],
    ['gpu1]', /pair up/],
    ['gpu[[1]]', /pair up/],
    ['gpu[]', /numbers and ranges/],
    ['gpu[a-c]', /numbers and ranges/],
    ['gpu[1--2]', /numbers and ranges/],
    ['gpu[3-1]', /backwards/],
    ['gpu[1-999999999999999]', /more than 100000/],
    ['a[1-1000]b[1-1000]', /more than 100000/],
    ['a[1-60000],b[1-60000]', /more than 100000/],
  ])('rejects %j', (text, message) => {
    expect(() => expandHostlist(text)).toThrow(message)
  })
})

test('splitHostlist does not split at commas in brackets', () => {
  expect(splitHostlist('a[1,2],b')).toEqual(['a[1,2]', 'b'])
})

describe('foldHostlist', () => {
  test.each([
    [['gpu003', 'gpu001', 'gpu002'], 'gpu[001-003]'],
    [['gpu1'], 'gpu1'],
    [['gpu9', 'gpu10', 'gpu12'], 'gpu[9-10,12]'],
    [['gpu09', 'gpu10', 'gpu100'], 'gpu100,gpu[09-10]'],
    [['a', 'b'], 'a,b'],
    [['n0', 'n1'], 'n[0-1]'],
    [['r1n01.x', 'r1n02.x', 'r2n01.x'], 'r1n[01-02].x,r2n01.x'],
    [[], ''],
  ])('%j -> %s', (names, folded) => {
    expect(foldHostlist(names)).toBe(folded)
  })

  test('is reversed by expandHostlist', () => {
    const name = fc.oneof(
      fc.stringMatching(/^[a-z]{1,2}[0-9]{1,3}$/),
      fc.stringMatching(/^[a-c]0?[0-9]{1,2}[a-b]?0{0,2}[0-9]{0,2}(\.x)?$/),
      fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/),
    )
    fc.assert(
      fc.property(fc.array(name, { maxLength: 200 }), (names) => {
        expect(expandHostlist(foldHostlist(names)).sort()).toEqual([...new Set(names)].sort())
      }),
      { numRuns: 500 },
    )
  })

  test('folds 100,000 names', () => {
    const names = expandHostlist('gpu[000001-100000]')
    expect(foldHostlist(names)).toBe('gpu[000001-100000]')
  })
})
