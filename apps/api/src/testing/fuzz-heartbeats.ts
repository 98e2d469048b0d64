import { aHeartbeat, type Keys, signedBody } from './agent-client.ts'

/** Numbers from a seed, so that a failure can be had again. */
function random(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const SCRAPS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\\u0000',
  '\\ud800',
  'null',
  'true',
  '1e999',
  '-0',
  '99999999999999999999999',
  '0.0000000000000000000001',
  '"__proto__":{"x":1},',
  '"constructor":{"prototype":{}},',
  '"node_id":"other-node",',
  '"heartbeat":{},',
  '[[[[[[[[[[[[[[[[[[[[',
  '\u0000',
  '\ufeff',
]
const TYPES: unknown[] = [null, true, '', 'x', -1, 0, 1.5, 1e308, 2 ** 53, [], {}, [[]], '9'.repeat(500), { a: { b: { c: {} } } }]

/** Bodies that differ from a good one: in their bytes, or with a good signature in what they say. None of them may be accepted. */
export function badBody(i: number, name: string, keys: Keys, stranger: Keys): Uint8Array<ArrayBuffer> {
  const below = random(i * 7919 + 17)
  const good = Buffer.from(
    signedBody(aHeartbeat({ node_id: name, sequence_number: 1 + below(1000) }), i % 3 === 2 ? stranger : keys),
  )
  // Signed by a stranger, it may be as good as it likes.
  if (i % 3 === 2 && below(2) === 0) return good
  if (i % 3 === 1) return signedBody(outOfBounds(name, below), keys)
  const text = good.toString('latin1')
  // Within what is signed: of the rest, the nonce for one may be anything.
  const first = '{"heartbeat":'.length
  const at = first + below(text.lastIndexOf(',"auth"') - first)
  const scrap = Buffer.from(SCRAPS[below(SCRAPS.length)]!).toString('latin1')
  const mangled = [
    () => text.slice(0, at),
    () => text.slice(0, at) + scrap + text.slice(at),
    () => text.slice(0, at) + scrap + text.slice(at + 1 + below(40)),
    () => text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 + below(255))) + text.slice(at + 1),
    () => text + scrap,
    () => scrap.repeat(1 + below(3000)),
  ][below(6)]!()
  return Buffer.from(mangled, 'latin1')
}

const FIELDS = [
  'node_id',
  'cluster_id',
  'sequence_number',
  'timestamp',
  'capacity',
  'health',
  'boot_epoch',
  'capacity.cpu_cores_total',
  'health.status',
]

function outOfBounds(name: string, below: (n: number) => number): ReturnType<typeof aHeartbeat> {
  const heartbeat = structuredClone(aHeartbeat({ node_id: name, sequence_number: 1 })) as Record<string, unknown>
  const [first, second] = FIELDS[below(FIELDS.length)]!.split('.') as [string, string?]
  const wrong = TYPES[below(TYPES.length)]
  // What would be in its bounds after all is made a fault in any case.
  if (second) (heartbeat[first] as Record<string, unknown>)[second] = wrong
  else heartbeat[first] = wrong
  heartbeat.jobs = { running_count: -1 }
  return heartbeat as ReturnType<typeof aHeartbeat>
}

/** How bad bodies were answered: how many by each status, and those that were answered as none may be. */
export async function fuzz(
  count: number,
  { name, keys, stranger }: { name: string; keys: Keys; stranger: Keys },
  send: (body: Uint8Array<ArrayBuffer>) => Promise<{ status: number; accepted: boolean }>,
): Promise<{ sent: number; wrong: string[] }> {
  const wrong: string[] = []
  const AT_ONCE = 32
  let next = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let i = next++; i < count; i = next++) {
        const body = badBody(i, name, keys, stranger)
        const { status, accepted } = await send(body)
        if (accepted || ![200, 400, 413].includes(status))
          wrong.push(`${i}: ${status} for ${Buffer.from(body).toString('base64').slice(0, 400)}`)
      }
    }),
  )
  return { sent: count, wrong }
}
