import { isAscii, isUtf8 } from 'node:buffer'

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
  // Read as latin1 a byte is a character, and no byte of a longer UTF-8 sequence looks like one of JSON's own signs.
  const text = bytes.toString('latin1')
  const members = scan(bytes, text)
  const value = parse(isAscii(bytes) ? text : bytes.toString())
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

/** Walks over the structure only; that it is JSON at all, JSON.parse says afterwards. */
function scan(bytes: Buffer, text: string): Map<string, Uint8Array> {
  const hasEscapes = text.includes('\\')
  const members = new Map<string, Uint8Array>()
  /** Keys so far of every open object, null for an array. */
  const open: (Set<string> | null)[] = []
  let member: { name: string; from: number } | undefined
  let [from, end] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (sign === QUOTE) {
      ;[from, end] = [at, hasEscapes ? endOfEscaped(text, at) : endOfString(text, at + 1)]
      if (hasEscapes) checkString(bytes, text, from, end)
      at = end - 1
    } else if (sign === COLON) {
      const keys = open.at(-1)
      if (!keys) continue
      const key = keyAt(bytes, text, from, end)
      if (key === '__proto__') throw new MalformedBody('The body has a key `__proto__`.')
      if (keys.has(key)) throw new MalformedBody(`The key \`${key.slice(0, 64)}\` occurs twice.`)
      keys.add(key)
      if (open.length === 1) member = { name: key, from: at + 1 }
    } else if (sign === COMMA || sign === OBJECT_END || sign === ARRAY_END) {
      if (open.length === 1 && member) members.set(member.name, trimmed(bytes, member.from, at))
      if (sign !== COMMA) open.pop()
    } else if (sign === OBJECT || sign === ARRAY) {
      open.push(sign === OBJECT ? new Set() : null)
      if (open.length > DEPTH_LIMIT) throw new MalformedBody(`The body is nested deeper than ${DEPTH_LIMIT}.`)
    } else if (sign === MINUS || (sign >= ZERO && sign <= NINE)) {
      const start = at
      while (isOfNumber(text.charCodeAt(at + 1))) at++
      // What is so short is a number that a double holds, unless it has an exponent.
      if (at - start > 14 || /e/i.test(text.slice(start, at + 1))) checkNumber(text.slice(start, at + 1))
    }
  }
  return members
}

const [QUOTE, COLON, COMMA, OBJECT, OBJECT_END, ARRAY, ARRAY_END, MINUS, ZERO, NINE] = Buffer.from('":,{}[]-09') as unknown as [
  ...[number, number, number, number, number, number, number, number, number, number],
]
const NUMBER = Uint8Array.from({ length: 256 }, (_, code) => +'0123456789+-.eE'.includes(String.fromCharCode(code)))
const isOfNumber = (code: number) => NUMBER[code] === 1

function endOfString(text: string, from: number): number {
  const end = text.indexOf('"', from)
  if (end < 0) throw new MalformedBody('The body is not JSON.')
  return end + 1
}

function endOfEscaped(text: string, from: number): number {
  for (let end = endOfString(text, from + 1); ; end = endOfString(text, end)) {
    let slashes = 0
    while (text[end - 2 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return end
  }
}

function keyAt(bytes: Buffer, text: string, from: number, end: number): string {
  const plain = text.slice(from + 1, end - 1)
  return /[\\\x80-\xff]/.test(plain) ? (parse(bytes.toString('utf8', from, end)) as string) : plain
}

function checkString(bytes: Buffer, text: string, from: number, end: number): void {
  if (!text.slice(from, end).includes('\\')) return
  const decoded = parse(bytes.toString('utf8', from, end)) as string
  if (!decoded.isWellFormed() || decoded.includes('\0')) throw new MalformedBody('A string has a NUL or half a surrogate pair.')
}

function checkNumber(text: string): void {
  const [number, digits] = [Number(text), text.split(/e/i)[0]!]
  const vanished = number === 0 && /[1-9]/.test(digits)
  if (!Number.isFinite(number) || vanished || digits.length > 64)
    throw new MalformedBody('A number is too large, too small or too long.')
}

function trimmed(bytes: Buffer, from: number, end: number): Uint8Array {
  const isSpace = (at: number) => ' \t\r\n'.includes(String.fromCharCode(bytes[at]!))
  let [first, last] = [from, end]
  while (first < last && isSpace(first)) first++
  while (last > first && isSpace(last - 1)) last--
  return bytes.subarray(first, last)
}
