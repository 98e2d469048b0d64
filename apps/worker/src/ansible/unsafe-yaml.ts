// What PyYAML does not take as printable, or takes as a line break inside quotes; JSON.stringify leaves these as they are.
const UNPRINTABLE = /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/g

/** A double-quoted YAML scalar that PyYAML reads back as exactly `text`, which must be well-formed Unicode. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

// Nothing in such text begins an expression. Ansible 2.19 takes the quotes of an `!unsafe` scalar for nothing: with the tag `yes`
// would become true, `007` a number and the empty text null. Without it they stay text.
const HARMLESS = /^[\w.:+~=<\t -]*$/

/** A string of a user: `!unsafe` keeps Ansible from ever evaluating `{{ … }}` in it. */
export const unsafe = (text: string): string => (HARMLESS.test(text) ? quoted(text) : `!unsafe ${quoted(text)}`)

/** YAML 1.1 would read 1e+21 as a string and 0o17 as something else, so every number says what it is. */
function number(value: number): string {
  if (Number.isSafeInteger(value)) return String(value)
  return `!!float ${quoted(String(value))}`
}

/**
 * JSON data as YAML in flow style, every string in it `!unsafe`, keys too.
 * @throws TypeError on what is not JSON
 */
export function unsafeYaml(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return number(value)
  if (typeof value === 'string') return unsafe(value)
  if (Array.isArray(value)) return `[${value.map(unsafeYaml).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, inner]) => `? ${unsafe(key)} : ${unsafeYaml(inner)}`)
      .join(', ')}}`
  throw new TypeError(`${typeof value} is not JSON`)
}

/**
 * Variables by name: the names are identifiers, checked when the run was made, and everything in the values is unsafe.
 * @param expressions further ones, whose values are ours: Ansible evaluates them
 */
export function variables(vars: Record<string, unknown>, expressions: Record<string, string> = {}): string {
  const entries = [
    ...Object.entries(vars).map(([name, value]) => `${quoted(name)}: ${unsafeYaml(value)}`),
    ...Object.entries(expressions).map(([name, expression]) => `${quoted(name)}: ${quoted(expression)}`),
  ]
  return `{${entries.join(', ')}}`
}
