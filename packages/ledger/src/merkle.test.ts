import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  consistencyRanges,
  coverRange,
  createTree,
  EMPTY_ROOT,
  foldRange,
  inclusionRanges,
  leafHash,
  nodeHash,
  type Range,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts'

const leaves = (count: number, salt = '') => Array.from({ length: count }, (_, i) => leafHash(Buffer.from(`${salt}${i}`)))

/** The definition of RFC 6962, section 2.1, word for word. */
function treeHash(hashes: Buffer[]): Buffer {
  if (hashes.length === 0) return EMPTY_ROOT
  if (hashes.length === 1) return hashes[0]!
  let k = 1
  while (k * 2 < hashes.length) k *= 2
  return nodeHash(treeHash(hashes.slice(0, k)), treeHash(hashes.slice(k)))
}
const rangeHash = (all: Buffer[], { start, end }: Range) => treeHash(all.slice(start, end))

describe('a tree', () => {
  it('has the roots of the test vectors of Certificate Transparency', () => {
    const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
    const hashes = inputs.map((hex) => leafHash(Buffer.from(hex, 'hex')))
    expect(treeHash([]).toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(treeHash(hashes.slice(0, 1)).toString('hex')).toBe('6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d')
    expect(treeHash(hashes).toString('hex')).toBe('5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328')
  })

  it('has the same roots when its leaves arrive one by one', () => {
    const all = leaves(70)
    const tree = createTree()
    for (const [i, hash] of all.entries()) {
      expect(tree.root()).toEqual(treeHash(all.slice(0, i)))
      tree.add(hash)
      expect(tree.size()).toBe(i + 1)
    }
    expect(tree.root()).toEqual(treeHash(all))
  })

  it('has the hash of each aligned range in few complete subtrees', () => {
    const all = leaves(70)
    for (let size = 0; size <= 70; size++) {
      const refs = coverRange({ start: 0, end: size })
      const hashes = refs.map(({ level, index }) => rangeHash(all, { start: index * 2 ** level, end: (index + 1) * 2 ** level }))
      expect(foldRange(hashes)).toEqual(treeHash(all.slice(0, size)))
      expect(refs.length).toBeLessThanOrEqual(7)
    }
  })
})

describe('proofs', () => {
  it('show the inclusion of every leaf, and of no other', () => {
    for (let size = 1; size <= 40; size++) {
      const all = leaves(size)
      const root = treeHash(all)
      for (let leaf = 0; leaf < size; leaf++) {
        const path = inclusionRanges(leaf, size).map((range) => rangeHash(all, range))
        const proof = { hash: all[leaf]!, leaf, size, path, root }
        expect(verifyInclusion(proof)).toBe(true)
        expect(verifyInclusion({ ...proof, hash: leafHash(Buffer.from('other')) })).toBe(false)
        if (size > 1) expect(verifyInclusion({ ...proof, leaf: (leaf + 1) % size })).toBe(false)
        expect(verifyInclusion({ ...proof, path: [...path, root] })).toBe(false)
        expect(verifyInclusion({ ...proof, leaf: size })).toBe(false)
      }
    }
  })

  it('show that a tree continues every smaller one, and no other', () => {
    for (let size = 1; size <= 40; size++) {
      const all = leaves(size)
      const other = leaves(size, 'other ')
      const root = treeHash(all)
      for (let oldSize = 0; oldSize <= size; oldSize++) {
        const path = oldSize === 0 ? [] : consistencyRanges(oldSize, size).map((range) => rangeHash(all, range))
        const proof = { oldSize, oldRoot: treeHash(all.slice(0, oldSize)), size, root, path }
        expect(verifyConsistency(proof), `${oldSize} ${size}`).toBe(true)
        if (oldSize > 0) expect(verifyConsistency({ ...proof, oldRoot: treeHash(other.slice(0, oldSize)) })).toBe(false)
        expect(verifyConsistency({ ...proof, path: [...path, root] })).toBe(false)
        if (oldSize > 0 && oldSize < size) expect(verifyConsistency({ ...proof, root: treeHash(other) })).toBe(false)
        expect(verifyConsistency({ ...proof, oldSize: size + 1 })).toBe(false)
      }
    }
  })

  it('fail after any changed byte', () => {
    const all = leaves(33)
    fc.assert(
      fc.property(fc.nat(32), fc.nat(1000), fc.integer({ min: 1, max: 255 }), (leaf, position, difference) => {
        const path = inclusionRanges(leaf, 33).map((range) => Buffer.from(rangeHash(all, range)))
        const hash = path[position % path.length]!
        hash[position % 32]! ^= difference
        return !verifyInclusion({ hash: all[leaf]!, leaf, size: 33, path, root: treeHash(all) })
      }),
    )
  })
})
