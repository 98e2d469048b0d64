import { randomBytes, sign } from 'node:crypto'
import { type CachedAgent, FIELDS, PARTS } from './reference-heartbeat.ts'

/** Seeded random numbers, so that failures are reproducible. */
export type Random = (below: number) => number
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    // Mulberry32: simpler generators have short periods in their low bits.
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (((mixed ^ (mixed >>> 14)) >>> 0) % 2 ** 32) % below
  }
}
const one = <T>(below: Random, of: readonly T[]): T => of[below(of.length)]!

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const long = (length: number) => `"${'x'.repeat(length)}"`
const many = (count: number, value: string) => `[${Array(count).fill(value).join()}]`

/** JSON values at limits, beyond limits, and known to break parsers. */
const VALUES = [
  ...['null', 'true', 'false', '""', '"x"', '-1', '0', '-0', '1', '1.5', '0.1e1', '1E2', '100', '100.00000000000001', '64', '65'],
  ...['2147483647', '2147483648', '4294967296', '9007199254740991', '9007199254740992', '9007199254740993', '1e308', '-1e308'],
  ...['1e-50', '1e-38', '5e-324', '1e-320', '1e400', '-1e400', '1e-400', '01', '+1', '.5', '1.', '0x10', 'NaN', 'Infinity'],
  ...['9'.repeat(64), '9'.repeat(65), `0.${'3'.repeat(62)}`, `0.${'3'.repeat(63)}`, `1e${'0'.repeat(80)}1`],
  ...[
    '[]',
    '{}',
    '[[]]',
    '[1,]',
    '{"a":1,}',
    '[null]',
    '[{}]',
    '{"a":{"b":[1,{}]}}',
    nested(12),
    nested(13),
    nested(14),
    nested(15),
  ],
  ...['{"__proto__":{"polluted":1}}', '{"\\u005f_proto__":null}', '{"constructor":{"prototype":{"polluted":1}}}'],
  ...['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"toString":1,"hasOwnProperty":null,"length":-1}', '{"":0," ":0}'],
  ...[
    '"\\u0000"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\ud83d\\ude00"',
    '"😀é昇"',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
    '"\\x"',
    '"\t"',
    '"{}[],:"',
  ],
  ...[
    '"healthy"',
    '"draining"',
    '"idle"',
    '"IDLE+DRAIN"',
    '"ok"',
    '"lost"',
    '"ethernet"',
    '"12.5"',
    '"1e5"',
    '"$(id)"',
    '"{{ x }}"',
    '"NULL"',
  ],
  ...[32, 33, 64, 65, 128, 129, 255, 256, 1024, 1025].map(long),
  ...['"2026-01-15T10:30:00Z"', '"2026-02-29T10:30:00.123456789+01:00"', '"2026-01-15T10:30Z"', '"2026-01-15 10:30:00Z"'],
  ...['"9999-12-31T23:59:59-23:59"', '"0000-01-01T00:00:00Z"', '"2026-13-01T00:00:00Z"', '"2026-01-15T23:59:60Z"'],
  ...[64, 65, 256, 257, 512, 513].map((count) => many(count, '{"name":"e","target_node_id":"t"}')),
  ...[64, 65, 256, 4096, 4097].map((count) => many(count, '"j"')),
  ...[
    '[{"health":"lost"},{"health":"ok"}]',
    '[{"health":"bad"}]',
    '[{"index":-1}]',
    '[{"power_watts":1e-300}]',
    '[{"name":"ib0","speed_mbps":1}]',
  ],
  ...['[{"target_node_id":"n","latency_us":5,"packet_loss_percent":0.5}]', '[{"target_node_id":"n","packet_loss_percent":101}]'],
]

const FRAGMENTS = [
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\',
    ' ',
    '\n',
    '0',
    '-',
    '.',
    'e',
    '/',
    '\\u0000',
    '\\ud800',
    '\\u00',
    'null',
    '1e999',
    '//',
  ],
  ...[
    '\0',
    '\x01',
    '\x1f',
    '\x7f',
    '\x80',
    '\xc0\x80',
    '\xff',
    '\xed\xa0\x80',
    '\xef\xbb\xbf',
    '\xe2\x80\xa8',
    '\xf4\x90\x80\x80',
  ],
  ...[
    '"__proto__":{"polluted":1},',
    '"\\u005f_proto__":1,',
    '"constructor":{"prototype":{"polluted":1}},',
    '"heartbeat":{},',
    '"auth":{},',
  ],
  ...[
    '"node_id":"other",',
    '"sequence_number":9007199254740991,',
    '"sequence_number":1e400,',
    '[[[[[[[[[[[[[[[[[[[[',
    '{"a":{"a":{"a":',
  ],
]

/** Offsets far from the edge of the time window, so that delays between two clock reads do not matter. */
const CLOCKS_MS = [0, 1000, -30_000, 60_000, -60_000, 3_000_000, -3_000_000, 1e9, -1e12]
const MAX_AGE_MS = 60_000

/** A valid heartbeat as JSON text, with `mutations` random changes, which can make it invalid. */
function buildHeartbeat(agent: CachedAgent, below: Random, mutations: number): string {
  const [epoch, sequence] = agent.last
  const members = new Map([
    ['node_id', JSON.stringify(agent.name)],
    ['cluster_id', JSON.stringify(agent.cluster)],
    ['sequence_number', String(sequence + 1)],
    ['timestamp', `"${new Date().toISOString()}"`],
    ['agent_version', '"1.0.0"'],
    ['boot_epoch', String(epoch)],
    ['capacity', '{"cpu_cores_total":64,"cpu_cores_available":32,"gpus_total":8}'],
    ['health', '{"status":"healthy","cpu_utilization_percent":40.5,"slurm_state":"idle"}'],
  ])
  for (let i = 0; i < mutations; i++) change(members, agent, below)
  const text = [...members].map(([name, value]) => `"${name}":${value}`)
  if (mutations > 0 && below(8) === 0) text.push(one(below, text))
  const [space, join] = mutations > 0 && below(4) === 0 ? ['\n', ' ,\t'] : ['', ',']
  return `{${space}${text.join(join)}${space}}`
}

function change(members: Map<string, string>, agent: CachedAgent, below: Random): void {
  const [epoch, sequence] = agent.last
  const [part, fields] = one(below, Object.entries(PARTS))
  const field = () => `"${one(below, Object.keys(fields))}":${one(below, VALUES)}`
  const known = { capacity: '"cpu_cores_total":4', health: '"status":"degraded"' }[part]
  const changes: (() => void)[] = [
    () => members.set(one(below, Object.keys(FIELDS)), one(below, VALUES)),
    () => members.set(part, `{${[known ?? '"x":1', field()].join()}}`),
    () => members.set(part, `{${[known ?? '"x":1', field(), field(), field()].join()}}`),
    () =>
      members.set(
        one(below, ['zz', 'constructor', '__proto__', 'é', '\\u006eode', '', 'to\\u0053tring', '\\ud800']),
        one(below, VALUES),
      ),
    () => members.delete(one(below, [...members.keys()])),
    () => members.set('sequence_number', String(Math.max(0, sequence + one(below, [0, -1, 2, 3, 1000, 2 ** 40])))),
    () => members.set('boot_epoch', String(Math.max(0, epoch + one(below, [1, -1, 0, 7])))),
    () =>
      members.set(
        'timestamp',
        `"${new Date(Date.now() + one(below, CLOCKS_MS)).toISOString().replace('Z', one(below, ['Z', '+00:00', '123Z']))}"`,
      ),
    () => members.set('hardware_fingerprint', one(below, ['null', '"other"', JSON.stringify(agent.fingerprint)])),
    () => members.set('cluster_id', one(below, ['"lab2"', '""', '"l\\u0061b"'])),
    () => members.set('sequence_number', `${sequence + 1}.0e0`),
  ]
  one(below, changes)()
}

const withAuth = (heartbeat: string, signature: string) =>
  `{"heartbeat":${heartbeat},"auth":{"signature":"${signature}","nonce":"eyJub2RlX2lkIjoi","timestamp":1768473000}}`
const signed = (heartbeat: string, { privateKey }: CachedAgent) => sign(null, Buffer.from(heartbeat), privateKey)

/** Order of the Ed25519 group (scalars are below it), and encodings of invalid or low-order points. */
const L = 2n ** 252n + 27742317777372317777353535851937790883648493n
const INVALID_POINTS = [
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  `${'00'.repeat(31)}80`,
  `ec${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
  'ff'.repeat(32),
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]

/** Changes to a signature that are possible without the private key. */
function forged(good: Buffer, below: Random): string {
  const [R, S] = [good.subarray(0, 32), good.subarray(32)]
  const base64 = (...parts: Uint8Array[]) => Buffer.concat(parts).toString('base64')
  const text = good.toString('base64')
  const more = (n: bigint) =>
    Buffer.from(
      ((BigInt(`0x${Buffer.from(S).reverse().toString('hex')}`) + n * L) % 2n ** 256n).toString(16).padStart(64, '0'),
      'hex',
    ).reverse()
  const point = () => Buffer.from(one(below, INVALID_POINTS), 'hex')
  return one(below, [
    () => base64(R, more(BigInt(1 + below(15)))),
    () =>
      base64(
        R,
        more(0n).map((byte, i) => (i === 31 ? byte | 0xe0 : byte)),
      ),
    () => base64(good.map((byte, i) => (i === below(64) ? byte ^ (1 << below(8)) : byte))),
    () => base64(point(), S),
    () => base64(point(), Buffer.alloc(32)),
    () => base64(R, Buffer.alloc(32)),
    () =>
      base64(
        R.map((byte, i) => (i === 31 ? byte ^ 0x80 : byte)),
        S,
      ),
    () => base64(S, R),
    () => base64(good.subarray(0, one(below, [0, 1, 31, 32, 62, 63]))),
    () => base64(good, Buffer.alloc(1 + below(30))),
    () => text.slice(0, -2),
    () => text.slice(0, -1),
    () => `${text}=`,
    () => text.replace(/.==$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}==`),
    () => text.replaceAll('+', '-').replaceAll('/', '_'),
    () => one(below, [` ${text}`, `${text}\\n`, `${text.slice(0, 40)}\\n${text.slice(40)}`, `${text}\\u0000`]),
    () => good.toString('hex'),
    () => randomBytes(64).toString('base64'),
  ])()
}

/** A valid body with bytes removed, inserted or changed in one or more places. */
function mangled(good: Buffer, below: Random): Buffer {
  let text = good.toString('latin1')
  for (let times = 1 + (below(3) === 0 ? below(4) : 0); times > 0; times--) {
    const at = below(text.length + 1)
    const fragment = one(below, FRAGMENTS)
    const [before, after] = [text.slice(0, at), text.slice(at)]
    text = one(below, [
      () => before,
      () => before + fragment + after,
      () => before + fragment + after,
      () => before + fragment + after.slice(1 + below(40)),
      () => before + after.slice(1 + below(3)),
      () => before + String.fromCharCode(after.charCodeAt(0) ^ (1 << below(8))) + after.slice(1),
      () => after + before,
      () => before + text.slice(below(at + 1), at) + after,
      () => before + fragment.repeat(below(60)) + after,
      () => text + fragment,
    ])()
  }
  return Buffer.from(text, 'latin1')
}

const randomBody = (below: Random): Buffer =>
  one(below, [
    () => Buffer.alloc(0),
    () => randomBytes(below(200)),
    () => Buffer.from(Array.from({ length: below(30) }, () => one(below, FRAGMENTS)).join(''), 'latin1'),
    () => Buffer.from(`{"heartbeat":${one(below, VALUES)},"auth":${one(below, VALUES)}}`),
    () => Buffer.from(one(below, FRAGMENTS).repeat(1 + below(300)), 'latin1'),
  ])()

/** Returns a generator of bodies. Most are invalid; `acceptByReference` decides which are valid. */
export function maliciousBodies(agents: CachedAgent[], below: Random): (agent: CachedAgent) => Buffer {
  const validBodies = new Map<CachedAgent, { good: Buffer; before: Buffer; last: CachedAgent['last']; at: number }>()
  /** A body that is currently valid: for bodies derived from it, the signature check is the only protection. */
  const validOf = (agent: CachedAgent) => {
    const cached = validBodies.get(agent)
    if (cached?.last === agent.last && Date.now() - cached.at < MAX_AGE_MS) return cached
    const heartbeat = buildHeartbeat(agent, below, 0)
    const good = Buffer.from(withAuth(heartbeat, signed(heartbeat, agent).toString('base64')))
    const next = { good, before: cached?.good ?? good, last: agent.last, at: Date.now() }
    validBodies.set(agent, next)
    return next
  }
  return (agent) => {
    const kind = below(100)
    if (kind < 84) return mangled(validOf(agent).good, below)
    if (kind < 88) return randomBody(below)
    if (kind < 89) return validOf(agent)[one(below, ['good', 'before', 'before'] as const)]
    const heartbeat = buildHeartbeat(agent, below, kind < 97 ? 1 + below(2) : 0)
    const signature = signed(heartbeat, kind === 99 ? one(below, agents) : agent)
    return Buffer.from(withAuth(heartbeat, kind === 98 ? forged(signature, below) : signature.toString('base64')))
  }
}
