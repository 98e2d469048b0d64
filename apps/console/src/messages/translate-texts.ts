import { t } from './index.ts'

/** Codes of texts that the server made, by text. */
export type MessageCodes = Readonly<Record<string, { code: string; params: Record<string, string> }>>

/** A copy of a result with its texts in the current language; the same object when it has none. */
export function translateTexts<T>(data: T, codes: MessageCodes | undefined): T {
  if (!codes) return data
  const translated = new Map(Object.keys(codes).map((text) => [text, translate(text, codes)]))
  return replaceTexts(data, translated) as T
}

function translate(text: string, codes: MessageCodes): string {
  const found = codes[text]
  const key = `server.${found?.code}` as 'server.power.noBmc'
  if (!found || !t.has(key)) return text
  const params = Object.fromEntries(Object.entries(found.params).map(([name, value]) => [name, translate(value, codes)]))
  return t(key, params as { node: string })
}

function replaceTexts(value: unknown, translated: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return translated.get(value) ?? value
  if (Array.isArray(value)) return value.map((part) => replaceTexts(part, translated))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, replaceTexts(part, translated)]))
}
