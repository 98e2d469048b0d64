import { en } from './en.ts'

type Plural = { one: string; other: string }
type Catalogue = typeof en
export type MessageKey = keyof Catalogue

type Params<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Params<Rest> : never
type Text<K extends MessageKey> = Catalogue[K] extends Plural ? Catalogue[K]['other'] | Catalogue[K]['one'] : Catalogue[K]
type Needs<K extends MessageKey> =
  | (Text<K> extends string ? Params<Text<K>> : never)
  | (Catalogue[K] extends Plural ? 'count' : never)
type Arguments<K extends MessageKey> = [Needs<K>] extends [never] ? [] : [Record<Needs<K>, string | number>]

/** Another language is another file of this shape, chosen here; every key, no more. */
export type Messages = { [K in MessageKey]: Catalogue[K] extends Plural ? Plural : string }

const locale = 'en'
const messages: Messages = en
const plural = new Intl.PluralRules(locale)
const numbers = new Intl.NumberFormat(locale)

/** The text for a key. `{name}` in it is filled from the second argument; numbers are grouped; plural entries choose by `count`. */
export function t<K extends MessageKey>(key: K, ...[values]: Arguments<K>): string {
  const entry: string | Plural = messages[key]
  const given = (values ?? {}) as Record<string, string | number>
  const text = typeof entry === 'string' ? entry : entry[plural.select(Number(given.count)) === 'one' ? 'one' : 'other']
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name]
    return typeof value === 'number' ? numbers.format(value) : String(value ?? '')
  })
}

/** Group a count's digits. */
export function formatNumber(value: number): string {
  return numbers.format(value)
}
