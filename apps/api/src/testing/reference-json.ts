/** Thrown for bodies that docs/agent-protocol.md forbids. One shared instance, because millions of stack traces are slow. */
const NOT_ALLOWED = new Error('not allowed')

export type Member = { value: unknown; from: number; end: number }

/**
 * Members of a JSON object with their byte offsets; undefined for invalid JSON and for what the protocol forbids. Implements RFC 8259
 * and the protocol independently of the code under test.
 */
export function membersOf(body: Buffer): Map<string, Member> | undefined {
  try {
    return new Reader(body).document()
  } catch (error) {
    if (error === NOT_ALLOWED) return undefined
    throw error
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SHORT: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

class Reader {
  /** Latin-1 text of the body: one character per byte. */
  private readonly text: string
  private readonly body: Buffer
  private at = 0

  constructor(body: Buffer) {
    this.body = body
    this.text = body.toString('latin1')
  }

  document(): Map<string, Member> {
    if (this.body.length > 65_536) throw NOT_ALLOWED
    this.skipSpace()
    const { members } = this.object(1)
    this.skipSpace()
    if (this.at < this.text.length) throw NOT_ALLOWED
    return members
  }

  private skipSpace(): void {
    while (' \t\r\n'.includes(this.text[this.at] ?? '!')) this.at++
  }

  private expect(token: string): void {
    if (!this.text.startsWith(token, this.at)) throw NOT_ALLOWED
    this.at += token.length
  }

  private value(depth: number): unknown {
    const sign = this.text[this.at]
    if (sign === '{') return this.object(depth).value
    if (sign === '[') return this.array(depth)
    if (sign === '"') return this.string()
    for (const [word, value] of [
      ['null', null],
      ['true', true],
      ['false', false],
    ] as const)
      if (sign === word[0]) {
        this.expect(word)
        return value
      }
    return this.number()
  }

  private object(depth: number): { value: object; members: Map<string, Member> } {
    if (depth > 16) throw NOT_ALLOWED
    const members = new Map<string, Member>()
    this.items('{', '}', () => {
      const key = this.string()
      if (members.has(key) || key === '__proto__') throw NOT_ALLOWED
      this.skipSpace()
      this.expect(':')
      this.skipSpace()
      const from = this.at
      members.set(key, { value: this.value(depth + 1), from, end: this.at })
    })
    return { value: Object.fromEntries([...members].map(([key, { value }]) => [key, value])), members }
  }

  private array(depth: number): unknown[] {
    if (depth > 16) throw NOT_ALLOWED
    const values: unknown[] = []
    this.items('[', ']', () => void values.push(this.value(depth + 1)))
    return values
  }

  /** Reads comma-separated items between two brackets. */
  private items(first: string, last: string, read: () => void): void {
    this.expect(first)
    this.skipSpace()
    if (this.text[this.at] !== last) {
      for (;;) {
        this.skipSpace()
        read()
        this.skipSpace()
        if (this.text[this.at] === last) break
        this.expect(',')
      }
    }
    this.expect(last)
  }

  private number(): number {
    NUMBER.lastIndex = this.at
    const [text] = NUMBER.exec(this.text) ?? []
    if (!text) throw NOT_ALLOWED
    this.at += text.length
    const [value, mantissa] = [Number(text), text.split(/[eE]/)[0]!]
    if (!Number.isFinite(value) || (value === 0 && /[1-9]/.test(mantissa)) || mantissa.length > 64) throw NOT_ALLOWED
    return value
  }

  private string(): string {
    this.expect('"')
    let decoded = ''
    for (let from = this.at; ; ) {
      const sign = this.text[this.at]
      if (sign === undefined || sign < ' ') throw NOT_ALLOWED
      if (sign !== '"' && sign !== '\\') {
        this.at++
        continue
      }
      decoded += this.utf8(from, this.at++)
      if (sign === '"') break
      decoded += this.escaped()
      from = this.at
    }
    if (/[\ud800-\udfff]/u.test(decoded) || decoded.includes('\0')) throw NOT_ALLOWED
    return decoded
  }

  private utf8(from: number, end: number): string {
    const plain = this.text.slice(from, end)
    if (!/[\x80-\xff]/.test(plain)) return plain
    try {
      return UTF8.decode(this.body.subarray(from, end))
    } catch {
      throw NOT_ALLOWED
    }
  }

  private escaped(): string {
    const sign = this.text[this.at++] ?? ''
    if (Object.hasOwn(SHORT, sign)) return SHORT[sign]!
    const digits = this.text.slice(this.at, this.at + 4)
    if (sign !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) throw NOT_ALLOWED
    this.at += 4
    return String.fromCharCode(Number.parseInt(digits, 16))
  }
}
