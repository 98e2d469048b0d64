import fc from 'fast-check'
import { expect, test } from 'vitest'
import vectors from '../vectors.json' with { type: 'json' }
import { AuthSchema, extractHeartbeat, fromBase64, Heartbeat, MalformedBodyError, parseBody, publicKey, verify } from './index.ts'

const key = publicKey(vectors.key.public_key)
const rejectionMessage = (body: string | Uint8Array) => {
  try {
    extractHeartbeat(Buffer.from(body as string))
  } catch (error) {
    if (error instanceof MalformedBodyError) return error.message
    throw error
  }
}
const slice = (body: string) => Buffer.from(extractHeartbeat(Buffer.from(body))).toString()

test.each([
  ['{"heartbeat":{},"auth":{}}', '{}'],
  ['{"auth":{},"heartbeat":{"a":[1,{"b":"}"}]}}', '{"a":[1,{"b":"}"}]}'],
  [' {\r\n"heartbeat" :\t{ "ü": "昇\\"}" } \n, "auth":1 } \n', '{ "ü": "昇\\"}" }'],
  ['{"h":{"heartbeat":1},"heartbeat":2}', '2'],
  ['{"heartbeat":"}\\\\"}', '"}\\\\"'],
  ['{"heartbe\\u0061t":[]}', '[]'],
])('extracts the raw bytes from %j', (body, expected) => {
  expect(slice(body)).toBe(expected)
})

test.each([
  ['', /not valid JSON/],
  ['{', /not valid JSON/],
  ['[]', /no member `heartbeat`|not a JSON object/],
  ['{"auth":{}}', /no member `heartbeat`/],
  ['{"heartbeat":{}} {}', /not valid JSON/],
  ['{"heartbeat":{}},', /not valid JSON/],
  ['{"heartbeat":{}}\0', /not valid JSON/],
  ['\ufeff{"heartbeat":{}}', /not valid JSON/],
  ['{"heartbeat":{},"heartbeat":{}}', /`heartbeat` is duplicated/],
  ['{"heartbeat":{},"heartb\\u0065at":{}}', /`heartbeat` is duplicated/],
  ['{"heartbeat":{"é":1,"\\u00e9":1}}', /`é` is duplicated/],
  ['{"heartbeat":{"a":[{"b":1,"b":1}]}}', /`b` is duplicated/],
  ['{"heartbeat":{"__proto__":{"x":1}}}', /__proto__/],
  ['{"heartbeat":{"\\u005f_proto__":1}}', /__proto__/],
  ['{"heartbeat":"\\ud800"}', /surrogate/],
  ['{"heartbeat":"\\u0000"}', /NUL/],
  ['{"heartbeat":1e400}', /number/],
  ['{"heartbeat":-1e-400}', /number/],
  [`{"heartbeat":${'9'.repeat(400)}}`, /number/],
  [`{"heartbeat":0.${'0'.repeat(80)}1}`, /number/],
  [`{"heartbeat":${'['.repeat(20)}${']'.repeat(20)}}`, /deeper/],
  ['['.repeat(60_000), /deeper/],
  ['{"a":'.repeat(12_000), /deeper/],
  [`{"heartbeat":"${'x'.repeat(65_536)}"}`, /64 KiB/],
  [Buffer.from('{"heartbeat":"\xff"}', 'latin1'), /UTF-8/],
  [Buffer.from('{"heartbeat":"\xed\xa0\x80"}', 'latin1'), /UTF-8/],
] as const)('rejects %j', (body, message) => {
  expect(rejectionMessage(body)).toMatch(message)
})

test('treats visually similar keys as distinct', () => {
  expect(rejectionMessage('{"heartbeat":{"a":1,"A":1,"a ":1,"ａ":1},"b":{"a":1},"c":[{"a":1},{"a":1}]}')).toBeUndefined()
})

const keys = fc.array(fc.integer({ min: 0, max: 0x2fff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units))

test('round-trips any JSON object with the raw bytes of each member', () => {
  const json = fc.dictionary(keys, fc.jsonValue({ maxDepth: 6 }), { noNullPrototype: true })
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      fc.pre(text.length < 60_000 && !text.includes('__proto__') && !/\\u(0000|d[89a-f])|e-3\d\d/.test(text))
      const parsed = parseBody(Buffer.from(text))
      expect(parsed.value).toEqual(JSON.parse(text))
      expect([...parsed.members.keys()]).toEqual(
        Object.keys(JSON.parse(`[${text}]`)[0]).length ? expect.arrayContaining(Object.keys(value)) : [],
      )
      for (const [name, bytes] of parsed.members)
        expect(JSON.parse(Buffer.from(bytes).toString())).toEqual(JSON.parse(text)[name])
    }),
    { numRuns: process.env.MUSTER_LONG_TESTS ? 50_000 : 500 },
  )
})

// An attacker who has seen valid heartbeats cuts, joins and edits them. Only originally signed bytes verify, and only
// MalformedBodyError is thrown.
test('accepts no mutated body unless its signed bytes are unchanged', () => {
  const bodies = vectors.heartbeats.map(({ body }) => body)
  const signed = new Set(vectors.heartbeats.map(({ signed }) => signed))
  const insertion = fc.constantFrom(
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
    '__proto__',
    '"heartbeat":',
    '"auth":{}',
    '1e999',
    '\\ud800',
    '\0',
    '\xff',
    '-',
    'é',
    ...bodies,
  )
  const change = fc.record({
    body: fc.constantFrom(...bodies),
    at: fc.nat(4000),
    cut: fc.nat(30),
    insertion,
    repeat: fc.constantFrom(1, 1, 1, 2, 500),
  })
  let acceptedCount = 0
  fc.assert(
    fc.property(change, ({ body, at, cut, insertion, repeat }) => {
      const from = at % (body.length + 1)
      const changed = Buffer.from(
        body.slice(0, from) + insertion.repeat(repeat) + body.slice(from + cut),
        insertion === '\xff' ? 'latin1' : 'utf8',
      )
      const bytes = acceptedHeartbeat(changed)
      if (bytes === undefined) return
      acceptedCount++
      expect(signed).toContain(bytes)
    }),
    { numRuns: process.env.MUSTER_LONG_TESTS ? 500_000 : 3000 },
  )
  expect(bodies.map((body) => acceptedHeartbeat(Buffer.from(body)))).toEqual([...signed])
  expect(acceptedCount).toBeGreaterThan(0)
})

function acceptedHeartbeat(body: Uint8Array): string | undefined {
  try {
    const { value, members } = parseBody(body)
    const auth = AuthSchema.safeParse(value.auth)
    const bytes = members.get('heartbeat')
    if (!auth.success || !bytes || !Heartbeat.safeParse(value.heartbeat).success) return
    expect(fromBase64(auth.data.signature, 64)?.length ?? 64).toBe(64)
    return verify(bytes, auth.data.signature, key) ? Buffer.from(bytes).toString() : undefined
  } catch (error) {
    if (!(error instanceof MalformedBodyError)) throw error
  }
}
