import { createHash } from 'node:crypto'

// Merkle trees of RFC 6962, section 2.1. Hashes are 32 bytes of SHA-256. Leaves are counted from 0; sizes are exact integers up to 2^53.

/** Leaves `start` to `end`, without `end`. */
export type Range = { start: number; end: number }
/** A complete subtree: the leaves from `index * 2^level`, `2^level` of them. Its hash never changes when the tree grows. */
export type SubtreeRef = { level: number; index: number }

const sha256 = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const LEAF = Buffer.from([0])
const NODE = Buffer.from([1])

/** Root of the tree without leaves. */
export const EMPTY_ROOT = sha256()
export const leafHash = (entry: Uint8Array): Buffer => sha256(LEAF, entry)
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(NODE, left, right)

/** The largest power of two below `size`, at least 1. */
function splitOf(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

/** The complete subtrees that together are the leaves of `range`, from the left. Their number is logarithmic. */
export function coverRange({ start, end }: Range): SubtreeRef[] {
  const refs: SubtreeRef[] = []
  for (let at = start; at < end; ) {
    let level = 0
    while (at + 2 ** (level + 1) <= end && at % 2 ** (level + 1) === 0) level++
    refs.push({ level, index: at / 2 ** level })
    at += 2 ** level
  }
  return refs
}

/** The hash of a range of the tree from the hashes of its `coverRange`. */
export function foldRange(hashes: readonly Uint8Array[]): Buffer {
  if (hashes.length === 0) return EMPTY_ROOT
  return hashes.reduceRight((right, left) => nodeHash(left, right)) as Buffer
}

/** Computes the root of a tree from leaves that arrive one by one. Its memory grows with the logarithm of their number. */
export function createTree(): { add(leaf: Uint8Array): void; size(): number; root(): Buffer } {
  /** Complete subtrees, from the left; each is larger than the next one. */
  const subtrees: { level: number; hash: Uint8Array }[] = []
  let size = 0
  return {
    add(leaf) {
      let added = { level: 0, hash: leaf }
      for (let last = subtrees.at(-1); last?.level === added.level; last = subtrees.at(-1)) {
        subtrees.pop()
        added = { level: added.level + 1, hash: nodeHash(last.hash, added.hash) }
      }
      subtrees.push(added)
      size++
    },
    size: () => size,
    root: () => foldRange(subtrees.map(({ hash }) => hash)),
  }
}

/** The ranges with the hashes of an inclusion proof, in the order of RFC 6962: from the leaf to the root. */
export function inclusionRanges(leaf: number, size: number): Range[] {
  const ranges: Range[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + splitOf(end - start)
    ranges.push(leaf < middle ? { start: middle, end } : { start, end: middle })
    if (leaf < middle) end = middle
    else start = middle
  }
  return ranges.reverse()
}

/** The ranges with the hashes of a proof that the tree of `size` continues the tree of `oldSize`, in the order of RFC 6962. */
export function consistencyRanges(oldSize: number, size: number): Range[] {
  const ranges: Range[] = []
  let [start, end] = [0, size]
  while (end > oldSize) {
    const middle = start + splitOf(end - start)
    ranges.push(oldSize <= middle ? { start: middle, end } : { start, end: middle })
    if (oldSize <= middle) end = middle
    else start = middle
  }
  if (start > 0) ranges.push({ start, end })
  return ranges.reverse()
}

/** Whether `proof` shows that the tree with `root` and `size` has the leaf `hash` at position `leaf`. */
export function verifyInclusion(proof: {
  hash: Uint8Array
  leaf: number
  size: number
  path: readonly Uint8Array[]
  root: Uint8Array
}): boolean {
  const { leaf, size } = proof
  if (!(leaf >= 0 && leaf < size)) return false
  const ranges = inclusionRanges(leaf, size)
  if (ranges.length !== proof.path.length) return false
  const root = ranges.reduce<Uint8Array>(
    (hash, { start }, i) => (start > leaf ? nodeHash(hash, proof.path[i]!) : nodeHash(proof.path[i]!, hash)),
    proof.hash,
  )
  return Buffer.compare(root, proof.root) === 0
}

/** Whether `path` shows that the tree with `root` and `size` begins with all leaves of the tree with `oldRoot` and `oldSize`. */
export function verifyConsistency(proof: {
  oldSize: number
  oldRoot: Uint8Array
  size: number
  root: Uint8Array
  path: readonly Uint8Array[]
}): boolean {
  const { oldSize, oldRoot, size, root } = proof
  if (!(oldSize >= 0 && oldSize <= size)) return false
  if (oldSize === 0) return proof.path.length === 0 && Buffer.compare(oldRoot, EMPTY_ROOT) === 0
  const ranges = consistencyRanges(oldSize, size)
  if (ranges.length !== proof.path.length) return false
  const isOwnSubtree = !ranges[0] || ranges[0].start >= oldSize
  const first = isOwnSubtree ? oldRoot : proof.path[0]!
  let [oldHash, newHash]: [Uint8Array, Uint8Array] = [first, first]
  for (const [i, { start }] of ranges.entries()) {
    if (i === 0 && !isOwnSubtree) continue
    const hash = proof.path[i]!
    if (start >= oldSize) newHash = nodeHash(newHash, hash)
    else [oldHash, newHash] = [nodeHash(hash, oldHash), nodeHash(hash, newHash)]
  }
  return Buffer.compare(oldHash, oldRoot) === 0 && Buffer.compare(newHash, root) === 0
}
