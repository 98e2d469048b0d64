/** One property of a template's input schema that a form can draw. */
export type InputField = {
  name: string
  label: string
  description?: string
  kind: 'text' | 'secret' | 'number' | 'choice' | 'yes' | 'lines'
  isRequired: boolean
  /** `choice`: what can be chosen, as JSON values. */
  choices: unknown[]
  minimum?: number
  maximum?: number
  isWhole: boolean
  /** What holds when nothing is given, as far as the template says it. */
  fallback: unknown
  /** It is shown only while the other one has that value. */
  showIf: [other: string, value: unknown][]
}
/** What stands in the form's fields, as text; '' is not given. A choice is the number of what is chosen, yes and no are `true` and `false`. */
export type Typed = Record<string, string>

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined)
const number = (value: unknown) => (typeof value === 'number' ? value : undefined)

function kindOf(property: Json): InputField['kind'] | null {
  if (Array.isArray(property.enum)) return 'choice'
  if (property.type === 'string') return property['x-secret'] === true ? 'secret' : 'text'
  if (property.type === 'integer' || property.type === 'number') return 'number'
  if (property.type === 'boolean') return 'yes'
  return property.type === 'array' && isObject(property.items) && property.items.type === 'string' ? 'lines' : null
}

/**
 * The fields of a template's form: required ones first, each followed by those that hang on it, for the server keeps the properties in
 * no order of their own. What is shaped otherwise, such as objects, is left to the text below the form.
 * The first example stands for what a role does by itself when neither the schema nor the template has a default.
 */
export function fieldsOf(inputSchema: unknown, defaultVars: unknown): InputField[] {
  if (!isObject(inputSchema) || !isObject(inputSchema.properties)) return []
  const defaults = isObject(defaultVars) ? defaultVars : {}
  const required = Array.isArray(inputSchema.required) ? inputSchema.required : []
  const fields = Object.entries(inputSchema.properties).flatMap(([name, property]): InputField[] => {
    const kind = isObject(property) ? kindOf(property) : null
    if (!isObject(property) || !kind) return []
    const [example] = Array.isArray(property.examples) ? property.examples : []
    const field: InputField = {
      name,
      label: text(property.title) ?? name,
      description: text(property.description),
      kind,
      isRequired: required.includes(name) && !(name in defaults) && property.default === undefined,
      choices: Array.isArray(property.enum) ? property.enum : [],
      minimum: number(property.minimum),
      maximum: number(property.maximum),
      isWhole: property.type === 'integer',
      fallback: defaults[name] ?? property.default ?? example,
      showIf: isObject(property['x-show-if']) ? Object.entries(property['x-show-if']) : [],
    }
    return [field]
  })
  const withThoseBelow = (field: InputField): InputField[] => [field, ...fields.filter(hangsOn(field)).flatMap(withThoseBelow)]
  const tops = fields.filter((field) => !fields.some((other) => hangsOn(other)(field)))
  const inOrder = [...tops.filter((each) => each.isRequired), ...tops.filter((each) => !each.isRequired)].flatMap(withThoseBelow)
  // Those that hang on each other in a circle are below no top.
  return [...inOrder, ...fields.filter((field) => !inOrder.includes(field))]
}

const hangsOn = (other: InputField) => (field: InputField) => field.showIf[0]?.[0] === other.name

function meaning({ kind, choices }: InputField, typed: string): unknown {
  if (kind === 'choice') return choices[Number(typed)]
  if (kind === 'yes') return typed === 'true'
  if (kind === 'number') return Number(typed)
  if (kind === 'lines') return typed.split('\n').filter((line) => line.trim())
  return typed
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The fields to show for what is typed so far; one that hangs on a hidden field is hidden too. */
export function shownFields(fields: InputField[], typed: Typed): InputField[] {
  const isShown = (field: InputField, asking: string[]): boolean =>
    field.showIf.every(([name, wanted]) => {
      const other = fields.find((each) => each.name === name)
      // Left to the text below the form, or a circle: better shown than out of reach.
      if (!other || asking.includes(name)) return true
      const value = typed[name] ? meaning(other, typed[name]) : other.fallback
      return same(value, wanted) && isShown(other, [...asking, name])
    })
  return fields.filter((field) => isShown(field, [field.name]))
}

/** The variables that the shown fields give; what is left empty is not given, so that groups and nodes keep their say. */
export function varsFrom(fields: InputField[], typed: Typed): Json {
  return Object.fromEntries(
    shownFields(fields, typed).flatMap((field) => {
      const given = typed[field.name]
      return given ? [[field.name, meaning(field, given)]] : []
    }),
  )
}
