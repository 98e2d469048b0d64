import { createHash, createPrivateKey } from 'node:crypto'
import { encodeHeartbeat, envelope, type Heartbeat, prove, sign } from '../src/index.ts'
import { add, B, challenge, decode, encode, encodeNumber, L, negated, P, type Point, smallOrder, times, ZERO } from './curve.ts'

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const seed = Buffer.from(Array.from({ length: 32 }, (_, i) => i))
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
  format: 'der',
  type: 'pkcs8',
})
const clamped = createHash('sha512').update(seed).digest().subarray(0, 32)
clamped[0]! &= 248
clamped[31] = (clamped[31]! & 63) | 64
const secret = BigInt(`0x${Buffer.from(clamped).reverse().toString('hex')}`) % L
const A = times(secret, B)
const now = new Date('2026-01-15T10:30:00.120Z')
const nonce = Buffer.from('muster muster mu')

export type SignatureVector = { name: string; public_key: string; message: string; signature: string; valid: boolean }

/** What packages/protocol/vectors.json holds. Made, not written by hand, and made the same every time. */
export function makeVectors() {
  return {
    about:
      'Test vectors of the agent protocol; docs/agent-protocol.md says how to read them. Made by packages/protocol/test/make-vectors.ts.',
    key: {
      private_key: base64(Buffer.concat([seed, encode(A)])),
      public_key: base64(encode(A)),
    },
    refused_keys: refusedKeys(),
    heartbeats: [small, escaped].map((value) => {
      const bytes = encodeHeartbeat(value)
      const auth = sign(bytes, privateKey, now, nonce)
      return { value, signed: Buffer.from(bytes).toString(), auth, body: Buffer.from(envelope(bytes, auth)).toString() }
    }),
    registration: {
      request: { node_id: 'node-001', cluster_id: 'hpc-1', agent_pubkey: base64(encode(A)), enrolment_token: 'one-time' },
      proof: prove({ node_id: 'node-001', cluster_id: 'hpc-1', enrolment_token: 'one-time' }, privateKey, now),
    },
    signatures: signatures(),
  }
}

const small: Heartbeat = {
  agent_version: '0.1.0',
  node_id: 'node-001',
  cluster_id: 'hpc-1',
  sequence_number: 42,
  timestamp: '2026-01-15T10:30:00.12Z',
  boot_epoch: 3,
  health: { status: 'healthy', uptime_seconds: 86400, load_average_1m: '0.500000' },
  capacity: { cpu_cores_total: 64, cpu_cores_available: 32, memory_gb_total: 512, gpu_type: null },
}
const escaped: Heartbeat = {
  ...small,
  sequence_number: 43,
  capacity: { cpu_cores_total: 1, gpu_type: 'A<100> & "Ascend 昇腾" \u2028\t\u0001' },
  health: { status: 'degraded', cpu_utilization_percent: 12.5, reasons: ['\\ / \u007f 😀'] },
  not_known_to_us: { kept: [true, null, 1.5e300] },
}

function refusedKeys() {
  const y = (value: bigint, sign = 0n) => encodeNumber(value | (sign << 255n))
  return [
    ...smallOrder().map((point, i) => ({ name: `small order, point ${i}`, bytes: encode(point) })),
    ...[1n, P - 1n].map((value) => ({ name: `x is 0 and negative, y = ${value}`, bytes: y(value, 1n) })),
    ...Array.from({ length: 19 }, (_, i) => ({ name: `y is not reduced, p + ${i}`, bytes: y(P + BigInt(i)) })),
    { name: 'y is not reduced, and negative', bytes: y(P + 3n, 1n) },
    { name: '31 bytes', bytes: encode(A).subarray(1) },
    { name: '33 bytes', bytes: Buffer.concat([encode(A), Buffer.alloc(1)]) },
  ].map(({ name, bytes }) => ({ name, public_key: base64(bytes) }))
}

function signatures(): SignatureVector[] {
  const message = Buffer.from('{"node_id":"node-001"}')
  const torsion = smallOrder()[1]!
  /** r, S so that the equation holds for R = [r]B + extra, should [k](A's torsion) and extra cancel out. */
  const signed = (over: Uint8Array, r: bigint, key: Point, extra?: Point) => {
    const R = extra ? add(times(r, B), extra) : times(r, B)
    const k = challenge(encode(R), encode(key), over)
    return { k, R: encode(R), S: (r + k * secret) % L }
  }
  const vector = (name: string, valid: boolean, key: Uint8Array, R: Uint8Array, S: bigint, over: Uint8Array = message) => ({
    name,
    public_key: base64(key),
    message: base64(over),
    signature: base64(Buffer.concat([R, encodeNumber(S)])),
    valid,
  })
  const good = signed(message, 5n, A)
  const a = encode(A)
  const flip = (bytes: Uint8Array, at: number) => Buffer.from(bytes).map((byte, i) => (i === at ? byte ^ 1 : byte)) as Buffer
  const mixed = add(A, torsion)
  const which = (wanted: (k: bigint) => boolean) => {
    for (let r = 2n; ; r++) {
      const made = signed(message, r, mixed)
      if (wanted(made.k)) return made
    }
  }
  const [cancels, differs] = [which((k) => k % 8n === 0n), which((k) => k % 8n !== 0n)]
  const withTorsion = signed(message, 9n, A, torsion)
  const one = encode(ZERO)
  const canonical = vector('good', true, a, good.R, good.S)
  const text = canonical.signature
  return [
    canonical,
    ...['', 'x', 'Müster '.repeat(200)].map((each, i) => {
      const over = Buffer.from(each)
      const { R, S } = signed(over, 100n + BigInt(i), A)
      return vector(`good, ${over.length} bytes`, true, a, R, S, over)
    }),
    vector('other message', false, a, good.R, good.S, Buffer.from('{"node_id":"node-002"}')),
    vector('a space more', false, a, good.R, good.S, Buffer.from('{"node_id": "node-001"}')),
    vector('other R', false, a, flip(good.R, 3), good.S),
    vector('other S', false, a, good.R, good.S + 1n),
    vector(
      'the key is no point of the curve',
      false,
      encodeNumber([2n, 7n, 8n].find((y) => !decode(encodeNumber(y)))!),
      good.R,
      good.S,
    ),
    vector('other key', false, encode(times(7n, B)), good.R, good.S),
    ...[1n, 2n, 15n].map((n) => vector(`S + ${n}L`, false, a, good.R, good.S + n * L)),
    vector('S = L', false, a, good.R, L),
    vector('S with all bits', false, a, good.R, 2n ** 256n - 1n),
    vector('S = 0 and R = 1', false, a, one, 0n),
    vector('R is of small order and the equation holds', false, a, one, (challenge(one, a, message) * secret) % L),
    vector(
      'R = 1 not reduced and the equation holds',
      false,
      a,
      encodeNumber(P + 1n),
      (challenge(encodeNumber(P + 1n), a, message) * secret) % L,
    ),
    vector('R has torsion: holds only when multiplied by the cofactor', false, a, withTorsion.R, withTorsion.S),
    vector('the key has torsion and the equation holds', true, encode(mixed), cancels.R, cancels.S),
    vector('the key has torsion: holds only when multiplied by the cofactor', false, encode(mixed), differs.R, differs.S),
    ...smallOrder().map((key, i) => {
      const { R, S } = forAnyKey(key, message)
      return vector(`key of small order, point ${i}, and the equation holds`, false, encode(key), R, S)
    }),
    { ...canonical, name: 'base64 without padding', signature: text.replace(/=+$/, ''), valid: false },
    {
      ...canonical,
      name: 'base64 with bits left over',
      signature: text.replace(/.==$/, (end) => `${next(end[0]!)}==`),
      valid: false,
    },
    { ...canonical, name: 'base64 with a space', signature: ` ${text.slice(1)}`, valid: false },
    { ...canonical, name: 'base64 with a line break', signature: `${text}\n`, valid: false },
    {
      ...canonical,
      name: 'base64 for URLs',
      signature: text.replaceAll('+', '-').replaceAll('/', '_'),
      valid: !/[+/]/.test(text),
    },
    { ...canonical, name: '63 bytes', signature: base64(Buffer.from(text, 'base64').subarray(0, 63)), valid: false },
    {
      ...canonical,
      name: '65 bytes',
      signature: base64(Buffer.concat([Buffer.from(text, 'base64'), Buffer.alloc(1)])),
      valid: false,
    },
    { ...canonical, name: 'nothing', signature: '', valid: false },
  ]
}

/** Whoever takes keys of small order takes such a signature, which nobody's secret went into. */
function forAnyKey(key: Point, message: Uint8Array): { R: Buffer; S: bigint } {
  for (let S = 1n; ; S++) {
    for (let guess = 0n; guess < 8n; guess++) {
      const R = encode(add(times(S, B), negated(times(guess, key))))
      if (challenge(R, encode(key), message) % 8n === guess) return { R, S }
    }
  }
}

function next(sign: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  return alphabet[(alphabet.indexOf(sign) + 1) % 64]!
}
