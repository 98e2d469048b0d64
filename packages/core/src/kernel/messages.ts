/** Names of the placeholders of a template: `no {a} and {b}` has a and b. */
type Names<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type Values<T extends string> = [Names<T>] extends [never] ? [] : [values: Readonly<Record<Names<T>, string | number>>]
type Texts<D extends Readonly<Record<string, string>>> = { [Code in keyof D]: (...values: Values<D[Code]>) => string }

/** The code of a text and the values of its placeholders, from which clients make a text in another language. */
export type MessageCode = { code: string; params: Record<string, string> }

/** The literal parts of a template, with the names of the placeholders between them. */
type Template = { code: string; parts: string[] }
const templates: Template[] = []
const described = new Map<string, MessageCode | null>()
const MAX_DESCRIBED = 5000
const PLACEHOLDER = /\{(\w+)\}/

/**
 * Defines English texts for users with stable codes, such as `slurm.noController`. The templates make the texts, and `describeMessage` finds
 * the code of a text with them: texts that are stored, or part of another text, keep their code.
 */
export function defineMessages<const D extends Readonly<Record<string, string>>>(area: string, definitions: D): Texts<D> {
  for (const [code, text] of Object.entries(definitions))
    templates.push({ code: `${area}.${code}`, parts: text.split(PLACEHOLDER) })
  const render = (text: string) => (values?: Readonly<Record<string, string | number>>) =>
    text.replaceAll(new RegExp(PLACEHOLDER, 'g'), (_match, name: string) => String(values![name]))
  return Object.fromEntries(Object.entries(definitions).map(([code, text]) => [code, render(text)])) as unknown as Texts<D>
}

/**
 * The values of the placeholders of a text; null when the template does not make it. The first occurrence of a literal part ends a
 * placeholder: texts of users are part of messages, and a regular expression would try all ways to split them.
 */
function match(parts: string[], text: string): Record<string, string> | null {
  const params: Record<string, string> = {}
  let at = parts[0]!.length
  for (let i = 1; i < parts.length; i += 2) {
    const [name, literal] = [parts[i]!, parts[i + 1]!]
    const isLast = i + 2 === parts.length
    const end = isLast ? (text.endsWith(literal) ? text.length - literal.length : -1) : text.indexOf(literal, at + 1)
    if (end <= at) return null
    const value = text.slice(at, end)
    if ((params[name] ?? value) !== value) return null
    params[name] = value
    at = end + literal.length
  }
  return at === text.length ? params : null
}

/** @returns null for a text that no template makes */
export function describeMessage(text: string): MessageCode | null {
  const known = described.get(text)
  if (known !== undefined) return known
  let found: MessageCode | null = null
  for (const { code, parts } of templates) {
    const params = text.startsWith(parts[0]!) ? match(parts, text) : null
    if (!params) continue
    found = { code, params }
    break
  }
  if (described.size >= MAX_DESCRIBED) described.clear()
  described.set(text, found)
  return found
}
