import { createHash } from 'node:crypto'

// Reference Ed25519 (RFC 8032), slow. Creates signatures that no signer creates and evaluates the equation independently of libraries.

export const P = 2n ** 255n - 19n
export const L = 2n ** 252n + 27742317777372353535851937790883648493n
const mod = (a: bigint, m = P) => ((a % m) + m) % m
const D = mod(-121665n * inverse(121666n))
const ROOT = power(2n, (P - 1n) / 4n)

/** Extended coordinates x = X/Z, y = Y/Z, T = XY/Z: addition needs no inverse. */
export type Point = { X: bigint; Y: bigint; Z: bigint; T: bigint }
const at = (x: bigint, y: bigint): Point => ({ X: x, Y: y, Z: 1n, T: mod(x * y) })
export const ZERO = at(0n, 1n)
export const B: Point = decode(encodeNumber(mod(4n * inverse(5n))))!

export function add(p: Point, q: Point): Point {
  const [a, b] = [mod((p.Y - p.X) * (q.Y - q.X)), mod((p.Y + p.X) * (q.Y + q.X))]
  const [c, d] = [mod(2n * D * p.T * q.T), mod(2n * p.Z * q.Z)]
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return { X: mod(e * f), Y: mod(g * h), Z: mod(f * g), T: mod(e * h) }
}

export function times(scalar: bigint, point: Point): Point {
  let [sum, doubled] = [ZERO, point]
  for (let rest = scalar; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = add(sum, doubled)
    doubled = add(doubled, doubled)
  }
  return sum
}

export const same = (a: Point, b: Point) => mod(a.X * b.Z - b.X * a.Z) === 0n && mod(a.Y * b.Z - b.Y * a.Z) === 0n
export const negated = ({ X, Y, Z, T }: Point): Point => ({ X: mod(-X), Y, Z, T: mod(-T) })

export function encode({ X, Y, Z }: Point): Buffer {
  const scale = inverse(Z)
  return encodeNumber(mod(Y * scale) | ((mod(X * scale) & 1n) << 255n))
}

/** Decodes non-canonical encodings too, like lenient decoders; undefined when no such point exists. */
export function decode(bytes: Uint8Array): Point | undefined {
  const number = decodeNumber(bytes.subarray(0, 32))
  const y = mod(number & (2n ** 255n - 1n))
  const square = mod((y * y - 1n) * inverse(D * y * y + 1n))
  let x = power(square, (P + 3n) / 8n)
  if (mod(x * x) !== square) x = mod(x * ROOT)
  if (mod(x * x) !== square) return
  return at((x & 1n) === number >> 255n ? x : mod(-x), y)
}

export function encodeNumber(number: bigint): Buffer {
  return Buffer.from(number.toString(16).padStart(64, '0'), 'hex').reverse()
}

export function decodeNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`)
}

export function challenge(r: Uint8Array, a: Uint8Array, message: Uint8Array): bigint {
  return mod(decodeNumber(createHash('sha512').update(r).update(a).update(message).digest()), L)
}

/** All eight points of small order: multiples of L times a curve point. */
export function smallOrder(): Point[] {
  for (let y = 2n; ; y++) {
    const point = decode(encodeNumber(y))
    const torsion = point && times(L, point)
    if (torsion && !same(times(4n, torsion), ZERO)) return Array.from({ length: 8 }, (_, i) => times(BigInt(i), torsion))
  }
}

function power(base: bigint, exponent: bigint): bigint {
  let [result, squared] = [1n, mod(base)]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = mod(result * squared)
    squared = mod(squared * squared)
  }
  return result
}

function inverse(a: bigint): bigint {
  return power(a, P - 2n)
}
