/** One property of a template's input schema with a form control. */
export type InputField = {
  name: string
  label: string
  description?: string
  kind: 'text' | 'secret' | 'number' | 'choice' | 'boolean' | 'lines'
  isRequired: boolean
  /** The options of a `choice`, as JSON values. */
  choices: unknown[]
  minimum?: number
  maximum?: number
  isWhole: boolean
  /** The default, if the template defines one. */
  fallback: unknown
  /** Shown only while the other field has this value. */
  showIf: [other: string, value: unknown][]
}
/** Form values by field name, as text; '' is unset. A choice is an index, a boolean `true` or `false`. */
export type FormValues = Record<string, string>

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined)
const number = (value: unknown) => (typeof value === 'number' ? value : undefined)

function kindOf(property: Json): InputField['kind'] | null {
  if (Array.isArray(property.enum)) return 'choice'
  if (property.type === 'string') return property['x-secret'] === true ? 'secret' : 'text'
  if (property.type === 'integer' || property.type === 'number') return 'number'
  if (property.type === 'boolean') return 'boolean'
  return property.type === 'array' && isObject(property.items) && property.items.type === 'string' ? 'lines' : null
}

/**
 * The fields of a template's form: required ones first, each followed by its dependents, because the server returns properties in no
 * particular order. Other types, such as objects, are entered as extra vars.
 * Without a default in schema or template, the first example is the role's own default.
 */
export function parseFields(inputSchema: unknown, defaultVars: unknown): InputField[] {
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
  const withDependents = (field: InputField): InputField[] => [field, ...fields.filter(dependsOn(field)).flatMap(withDependents)]
  const roots = fields.filter((field) => !fields.some((other) => dependsOn(other)(field)))
  const ordered = [...roots.filter((each) => each.isRequired), ...roots.filter((each) => !each.isRequired)].flatMap(
    withDependents,
  )
  // Fields with circular conditions have no root.
  return [...ordered, ...fields.filter((field) => !ordered.includes(field))]
}

const dependsOn = (other: InputField) => (field: InputField) => field.showIf[0]?.[0] === other.name

function toValue({ kind, choices }: InputField, values: string): unknown {
  if (kind === 'choice') return choices[Number(values)]
  if (kind === 'boolean') return values === 'true'
  if (kind === 'number') return Number(values)
  if (kind === 'lines') return values.split('\n').filter((line) => line.trim())
  return values
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The visible fields for the current values; a field that depends on a hidden one is hidden too. */
export function visibleFields(fields: InputField[], values: FormValues): InputField[] {
  const isShown = (field: InputField, visited: string[]): boolean =>
    field.showIf.every(([name, wanted]) => {
      const other = fields.find((each) => each.name === name)
      // The other field is not in the form, or the conditions are circular: show the field.
      if (!other || visited.includes(name)) return true
      const value = values[name] ? toValue(other, values[name]) : other.fallback
      return same(value, wanted) && isShown(other, [...visited, name])
    })
  return fields.filter((field) => isShown(field, [field.name]))
}

/** The variables of the visible fields. Empty fields set nothing, so values of groups and nodes apply. */
export function toVars(fields: InputField[], values: FormValues): Json {
  return Object.fromEntries(
    visibleFields(fields, values).flatMap((field) => {
      const given = values[field.name]
      return given ? [[field.name, toValue(field, given)]] : []
    }),
  )
}
