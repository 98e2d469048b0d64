import { MIN_SECRET_LENGTH } from '@muster/core/input'

const MASK = '***'
// Handwritten, because masking must match secrets across chunk borders and in several encodings while it streams.

const MIN_KEY_LINE_LENGTH = 16
const PREFIX = 4

/** Replaces secrets in a run's output, in the encodings in which they usually appear. */
export type Mask = { text(text: string): string; value<T>(value: T): T }

/**
 * @param secrets passwords, passphrases and private keys in the clear. Secrets shorter than MIN_SECRET_LENGTH are rejected before a run.
 */
export function createMask(secrets: string[]): Mask {
  const forms = new Set(secrets.flatMap(formsOf).filter((form) => form.length >= MIN_SECRET_LENGTH))
  // Candidate lengths by prefix: a fleet may have a thousand passwords with a common prefix, and masking a flood of output must stay
  // fast.
  const lengths = new Map<string, number[]>()
  const firsts = new Uint8Array(65536)
  for (const form of forms) {
    const prefix = form.slice(0, PREFIX)
    const known = lengths.get(prefix) ?? []
    if (!known.includes(form.length))
      lengths.set(
        prefix,
        [...known, form.length].sort((a, b) => b - a),
      )
    firsts[form.charCodeAt(0)] = 1
  }
  const text = (input: string): string => {
    let out = ''
    let from = 0
    for (let i = 0; i + PREFIX <= input.length; i++) {
      if (firsts[input.charCodeAt(i)] === 0) continue
      const length = lengths.get(input.slice(i, i + PREFIX))?.find((n) => forms.has(input.slice(i, i + n)))
      if (length === undefined) continue
      out += input.slice(from, i) + MASK
      from = i + length
      i = from - 1
    }
    return from === 0 ? input : out + input.slice(from)
  }
  const value = (input: unknown): unknown => {
    if (typeof input === 'string') return text(input)
    if (Array.isArray(input)) return input.map(value)
    if (input !== null && typeof input === 'object')
      return Object.fromEntries(Object.entries(input).map(([key, inner]) => [text(key), value(inner)]))
    return input
  }
  return forms.size === 0 ? { text: (t) => t, value: (v) => v } : { text, value: <T>(input: T) => value(input) as T }
}

/** A secret verbatim and as encoded in JSON, base64, URLs, and shell and Python quotes. A private key is split into its lines. */
function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line !== '')
  if (lines.length > 1)
    return lines.filter((line) => line.length >= MIN_KEY_LINE_LENGTH && !line.startsWith('-----')).flatMap(formsOf)
  const value = lines[0] ?? ''
  if (value.length < MIN_SECRET_LENGTH) return []
  const json = JSON.stringify(value).slice(1, -1)
  const ascii = json.replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const url = encodeURIComponent(value)
  return [
    value,
    json,
    ascii,
    JSON.stringify(json).slice(1, -1),
    url,
    url.replaceAll('%20', '+'),
    url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
    value.replaceAll("'", `'"'"'`),
    value.replaceAll("'", `'\\''`),
    value.replaceAll('\\', '\\\\').replaceAll("'", "\\'"),
    value.replace(/[^A-Za-z0-9_@%+=:,./\u0080-\uffff-]/g, '\\$&'),
    ...base64Forms(value),
  ]
}

/**
 * Base64 of the value at each of the three offsets within a group, without the characters at the edges, which also depend on
 * neighboring bytes.
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const skipFront = [0, 2, 3][shift]!
    const skipBack = (shift + bytes.length) % 3 === 0 ? 0 : 1
    const core = encoded.slice(skipFront, encoded.length - skipBack)
    // Shorter base64 occurs by chance.
    return core.length < 6 ? [] : [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
