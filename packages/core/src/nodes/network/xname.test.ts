import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expandHostlist, foldHostlist } from '../../selection/index.ts'
import { bmcXname, formatXname, NodeXname, parseXname, xnameRejections } from './xname.ts'

const HMS = /^x[0-9]{1,4}c[0-7]s[0-9]+b[0-9]+n[0-9]+$/
const ORCHESTRATOR = /^x\d{3,5}c\d{1,3}s\d{1,3}b\d{1,3}n\d{1,3}$/
const normalize = (text: string) => {
  const xname = parseXname(text)
  return xname && formatXname(xname)
}

test.each([
  ['x1000c0s3b0n1', 'x1000c0s3b0n1'],
  [' X1000C0S03B0N01 ', 'x1000c0s3b0n1'],
  ['x0001c0s0b0n0', 'x1c0s0b0n0'],
  ['x99999c255s999b999n999', 'x99999c255s999b999n999'],
  ['x1c7s1000b0n0', 'x1c7s1000b0n0'],
  ['x100000c0s0b0n0', null],
  ['x1000c256s0b0n0', null],
  ['x1000c0s0b0', null],
  ['x1000c0s0b0n', null],
  ['x1000c0s0b0n0p0', null],
  ['x1000c0s0b0n-1', null],
  ['x1000c0s0b0n٣', null],
  ['x1000c0s0b0n0\nx1000c0s0b0n1', null],
  ['', null],
])('normalizes %j to %j', (text, expected) => {
  expect(normalize(text)).toBe(expected)
})

test('derives the xname of the BMC', () => {
  expect(bmcXname(parseXname('x1000c0s3b1n1')!)).toBe('x1000c0s3b1')
})

test.each([
  ['x1000c0s3b0n1', []],
  ['x1c0s0b0n0', ['node-orchestrator: the cabinet has fewer than three digits']],
  ['x1000c0s1000b0n0', ['node-orchestrator: slot, controller or node is above 999']],
  ['x10000c0s0b0n0', ['hms-xname (SMD, BSS): the cabinet is above 9999']],
  ['x1000c8s0b0n0', ['hms-xname (SMD, BSS): the chassis is above 7']],
])('names the tools that reject %s', (text, rejections) => {
  expect(xnameRejections(parseXname(text)!)).toEqual(rejections)
})

test('the field explains an invalid xname', () => {
  expect(NodeXname.safeParse('x1').error!.issues[0]!.message).toMatch(/such as x1000c0s3b0n1/)
  expect(NodeXname.parse('X01c0s0b0n0')).toBe('x1c0s0b0n0')
})

describe('for any name', () => {
  const hms = fc.stringMatching(/^x[0-9]{1,4}c[0-7]s[0-9]{1,9}b[0-9]{1,9}n[0-9]{1,9}$/)
  const orchestrator = fc
    .stringMatching(/^x[0-9]{3,5}c[0-9]{1,3}s[0-9]{1,3}b[0-9]{1,3}n[0-9]{1,3}$/)
    .filter((text) => Number(/c(\d+)s/.exec(text)![1]) < 256)

  test('accepts both grammars, in any case; normalizing twice changes nothing', () => {
    fc.assert(
      fc.property(fc.oneof(hms, orchestrator), fc.boolean(), (text, isUpper) => {
        const normal = normalize(isUpper ? text.toUpperCase() : text)
        expect(normal).not.toBeNull()
        expect(normalize(normal!)).toBe(normal)
      }),
    )
  })

  test('names a tool exactly when its grammar rejects the normalized name', () => {
    fc.assert(
      fc.property(fc.oneof(hms, orchestrator), (text) => {
        const xname = parseXname(text)!
        const rejections = xnameRejections(xname).join('\n')
        expect(rejections.includes('hms-xname')).toBe(!HMS.test(formatXname(xname)))
        expect(rejections.includes('node-orchestrator')).toBe(!ORCHESTRATOR.test(formatXname(xname)))
      }),
    )
  })

  test('never throws, and accepts nothing that is not an xname', () => {
    const near = fc.array(fc.constantFrom(...'xcsbn0129X-[] \n'), { maxLength: 24 }).map((chars) => chars.join(''))
    fc.assert(
      fc.property(fc.oneof(fc.string(), near), (text) => {
        const normal = normalize(text)
        if (normal !== null) expect(normal).toMatch(/^x\d{1,5}c\d{1,3}s\d+b\d+n\d+$/)
      }),
      { numRuns: 1000 },
    )
  })

  test('a hostlist of xnames expands to xnames and folds back', () => {
    const names = expandHostlist('x1000c[0-1]s[0-7]b0n[0-1]')
    expect(names).toHaveLength(32)
    expect(names.map(normalize)).toEqual(names)
    expect(expandHostlist(foldHostlist(names)).sort()).toEqual(names.sort())
  })
})
