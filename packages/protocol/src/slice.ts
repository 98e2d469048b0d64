import { isUtf8 } from 'node:buffer'

/** Bytes that a body may have. */
export const BODY_LIMIT = 64 * 1024
const DEPTH_LIMIT = 16

/** A body that is refused before anybody looks at what it says. */
export class MalformedBody extends Error {
  override name = 'MalformedBody'
  readonly code: 'too_large' | 'invalid_request'
  constructor(message: string, code: 'too_large' | 'invalid_request' = 'invalid_request') {
    super(message)
    this.code = code
  }
}

/** The bytes of the top-level member `heartbeat` exactly as received: what the signature covers. Throws MalformedBody. */
export function heartbeatSlice(body: Uint8Array): Uint8Array {
  const { members } = readBody(body)
  const slice = members.get('heartbeat')
  if (!slice) throw new MalformedBody('The body has no `heartbeat`.')
  return slice
}

/**
 * A JSON object and the raw bytes of its members. Refuses what two readers could read differently or a database could not keep: keys
 * that occur twice, `__proto__`, numbers that are no finite double, NUL and halves of surrogate pairs in strings, bytes that are not
 * UTF-8, anything after the object; and what is over 64 KiB or nested deeper than 16. Throws MalformedBody.
 */
export function readBody(body: Uint8Array): { value: Record<string, unknown>; members: Map<string, Uint8Array> } {
  if (body.length > BODY_LIMIT) throw new MalformedBody(`The body is over ${BODY_LIMIT / 1024} KiB.`, 'too_large')
  if (!isUtf8(body)) throw new MalformedBody('The body is not UTF-8.')
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  const members = scan(bytes)
  const value = parse(bytes.toString())
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedBody('The body is not a JSON object.')
  return { value: value as Record<string, unknown>, members }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new MalformedBody('The body is not JSON.')
  }
}

/**
 * Walks over the structure only; that it is JSON at all, JSON.parse says afterwards. Read as latin1 a byte is a character, and no byte
 * of a longer UTF-8 sequence looks like one of JSON's own signs.
 */
function scan(bytes: Buffer): Map<string, Uint8Array> {
  const text = bytes.toString('latin1')
  const members = new Map<string, Uint8Array>()
  /** Keys so far of every open object, null for an array. */
  const open: (Set<string> | null)[] = []
  let member: { name: string; from: number } | undefined
  let last = ''
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!
    if (sign === '"') {
      const end = endOfString(text, at)
      last = stringAt(bytes, text, at, end)
      at = end - 1
    } else if (sign === ':') {
      const keys = open.at(-1)
      if (!keys) continue
      if (last === '__proto__') throw new MalformedBody('The body has a key `__proto__`.')
      if (keys.has(last)) throw new MalformedBody(`The key \`${last.slice(0, 64)}\` occurs twice.`)
      keys.add(last)
      if (open.length === 1) member = { name: last, from: at + 1 }
    } else if (sign === '{' || sign === '[') {
      open.push(sign === '{' ? new Set() : null)
      if (open.length > DEPTH_LIMIT) throw new MalformedBody(`The body is nested deeper than ${DEPTH_LIMIT}.`)
    } else if (sign === ',' || sign === '}' || sign === ']') {
      if (open.length === 1 && member) members.set(member.name, trimmed(bytes, member.from, at))
      if (sign !== ',') open.pop()
    } else if (sign === '-' || (sign >= '0' && sign <= '9')) {
      at = endOfNumber(text, at) - 1
    }
  }
  return members
}

function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at > 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return at + 1
  }
  throw new MalformedBody('The body is not JSON.')
}

function stringAt(bytes: Buffer, text: string, from: number, end: number): string {
  const plain = text.slice(from + 1, end - 1)
  if (!/[\\\x80-\xff]/.test(plain)) return plain
  const decoded = parse(bytes.toString('utf8', from, end)) as string
  if (!decoded.isWellFormed() || decoded.includes('\0')) throw new MalformedBody('A string has a NUL or half a surrogate pair.')
  return decoded
}

function endOfNumber(text: string, from: number): number {
  let end = from + 1
  while (end < text.length && '0123456789+-.eE'.includes(text[end]!)) end++
  const [number, digits] = [Number(text.slice(from, end)), text.slice(from, end).split(/e/i)[0]!]
  const vanished = number === 0 && /[1-9]/.test(digits)
  if (!Number.isFinite(number) || vanished || digits.length > 64)
    throw new MalformedBody('A number is too large, too small or too long.')
  return end
}

function trimmed(bytes: Buffer, from: number, end: number): Uint8Array {
  const isSpace = (at: number) => ' \t\r\n'.includes(String.fromCharCode(bytes[at]!))
  let [first, last] = [from, end]
  while (first < last && isSpace(first)) first++
  while (last > first && isSpace(last - 1)) last--
  return bytes.subarray(first, last)
}
