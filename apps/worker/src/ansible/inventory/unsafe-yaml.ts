// Characters that PyYAML rejects as unprintable or reads as line breaks inside quotes; JSON.stringify does not escape them.
const UNPRINTABLE = /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/g

/** Returns a double-quoted YAML scalar that PyYAML reads as exactly `text`, which must be well-formed Unicode. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

// Text that cannot begin an expression. It gets no tag, because Ansible 2.19 ignores the quotes of an `!unsafe` scalar: `yes` would
// become true, `007` a number and empty text null.
const HARMLESS = /^[\w.:+~=<\t -]*$/

/** Renders a string from a user; `!unsafe` keeps Ansible from evaluating `{{ … }}` in it. */
export const unsafe = (text: string): string => (HARMLESS.test(text) ? quoted(text) : `!unsafe ${quoted(text)}`)

/** YAML 1.1 would read 1e+21 as a string, so non-integers get an explicit tag. */
function number(value: number): string {
  if (Number.isSafeInteger(value)) return String(value)
  return `!!float ${quoted(String(value))}`
}

/**
 * Renders JSON data as YAML in flow style with every string `!unsafe`, keys included.
 * @throws TypeError for values that are not JSON
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
 * Renders variables. Names are identifiers, validated when the run was created; values are unsafe.
 * @param expressions values by variable that the worker builds and Ansible evaluates
 */
export function variables(vars: Record<string, unknown>, expressions: Record<string, string> = {}): string {
  const entries = [
    ...Object.entries(vars).map(([name, value]) => `${quoted(name)}: ${unsafeYaml(value)}`),
    ...Object.entries(expressions).map(([name, expression]) => `${quoted(name)}: ${quoted(expression)}`),
  ]
  return `{${entries.join(', ')}}`
}
