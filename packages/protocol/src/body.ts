import { isAscii, isUtf8 } from 'node:buffer'

/** Maximum body size in bytes. */
export const BODY_LIMIT = 64 * 1024
const DEPTH_LIMIT = 16

/** The body violates the JSON rules or limits of the protocol. */
export class MalformedBodyError extends Error {
  override name = 'MalformedBodyError'
  readonly code: 'too_large' | 'invalid_request'
  constructor(message: string, code: 'too_large' | 'invalid_request' = 'invalid_request') {
    super(message)
    this.code = code
  }
}

/** Returns the raw bytes of the top-level member `heartbeat`, which the signature covers. Throws MalformedBodyError. */
export function extractHeartbeat(body: Uint8Array): Uint8Array {
  const { members } = parseBody(body)
  const slice = members.get('heartbeat')
  if (!slice) throw new MalformedBodyError('The body has no member `heartbeat`.')
  return slice
}

/**
 * Parses a JSON object and returns it with the raw bytes of its members. Rejects input that two parsers could read differently or that
 * Postgres cannot store: duplicate keys, `__proto__`, numbers that are not finite doubles, NUL and lone surrogates in strings, invalid
 * UTF-8 and trailing data. Also rejects bodies over 64 KiB or nested deeper than 16. Throws MalformedBodyError.
 */
export function parseBody(body: Uint8Array): { value: Record<string, unknown>; members: Map<string, Uint8Array> } {
  if (body.length > BODY_LIMIT) throw new MalformedBodyError(`The body exceeds ${BODY_LIMIT / 1024} KiB.`, 'too_large')
  if (!isUtf8(body)) throw new MalformedBodyError('The body is not valid UTF-8.')
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  // In latin1, one byte is one character. No byte of a multi-byte UTF-8 sequence equals a JSON syntax character.
  const text = bytes.toString('latin1')
  const members = scan(bytes, text)
  const value = parse(isAscii(bytes) ? text : bytes.toString())
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedBodyError('The body is not a JSON object.')
  return { value: value as Record<string, unknown>, members }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new MalformedBodyError('The body is not valid JSON.')
  }
}

/** Scans the structure only. JSON.parse validates the syntax afterwards. */
function scan(bytes: Buffer, text: string): Map<string, Uint8Array> {
  const hasEscapes = text.includes('\\')
  const members = new Map<string, Uint8Array>()
  /** Keys seen in each open object; null for an open array. */
  const open: (Set<string> | null)[] = []
  let member: { name: string; from: number } | undefined
  let [from, end] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      ;[from, end] = [at, hasEscapes ? endOfEscaped(text, at) : endOfString(text, at + 1)]
      if (hasEscapes) checkString(bytes, text, from, end)
      at = end - 1
    } else if (char === COLON) {
      const keys = open.at(-1)
      if (!keys) continue
      const key = keyAt(bytes, text, from, end)
      if (key === '__proto__') throw new MalformedBodyError('The key `__proto__` is not allowed.')
      if (keys.has(key)) throw new MalformedBodyError(`The key \`${key.slice(0, 64)}\` is duplicated.`)
      keys.add(key)
      if (open.length === 1) member = { name: key, from: at + 1 }
    } else if (char === COMMA || char === OBJECT_END || char === ARRAY_END) {
      if (open.length === 1 && member) members.set(member.name, trimmed(bytes, member.from, at))
      if (char !== COMMA) open.pop()
    } else if (char === OBJECT || char === ARRAY) {
      open.push(char === OBJECT ? new Set() : null)
      if (open.length > DEPTH_LIMIT) throw new MalformedBodyError(`The body is nested deeper than ${DEPTH_LIMIT} levels.`)
    } else if (char === MINUS || (char >= ZERO && char <= NINE)) {
      const start = at
      while (isNumberChar(text.charCodeAt(at + 1))) at++
      // A number this short always fits a double, unless it has an exponent.
      if (at - start > 14 || /e/i.test(text.slice(start, at + 1))) checkNumber(text.slice(start, at + 1))
    }
  }
  return members
}

const [QUOTE, COLON, COMMA, OBJECT, OBJECT_END, ARRAY, ARRAY_END, MINUS, ZERO, NINE] = Buffer.from('":,{}[]-09') as unknown as [
  ...[number, number, number, number, number, number, number, number, number, number],
]
const NUMBER = Uint8Array.from({ length: 256 }, (_, code) => +'0123456789+-.eE'.includes(String.fromCharCode(code)))
const isNumberChar = (code: number) => NUMBER[code] === 1

function endOfString(text: string, from: number): number {
  const end = text.indexOf('"', from)
  if (end < 0) throw new MalformedBodyError('The body is not valid JSON.')
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
  if (!decoded.isWellFormed() || decoded.includes('\0'))
    throw new MalformedBodyError('A string contains NUL or a lone surrogate.')
}

function checkNumber(text: string): void {
  const [number, digits] = [Number(text), text.split(/e/i)[0]!]
  const vanished = number === 0 && /[1-9]/.test(digits)
  if (!Number.isFinite(number) || vanished || digits.length > 64)
    throw new MalformedBodyError('A number is out of range or has too many digits.')
}

function trimmed(bytes: Buffer, from: number, end: number): Uint8Array {
  const isSpace = (at: number) => ' \t\r\n'.includes(String.fromCharCode(bytes[at]!))
  let [first, last] = [from, end]
  while (first < last && isSpace(first)) first++
  while (last > first && isSpace(last - 1)) last--
  return bytes.subarray(first, last)
}
