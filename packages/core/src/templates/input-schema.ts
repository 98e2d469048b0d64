import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { type InputIssue, InvalidInput } from '../kernel/errors.ts'
import { variableNameError } from './extra-vars.ts'
import type { Vars } from './tables.ts'

type Schema = Record<string, unknown>

const MAX_BYTES = 64 * 1024
const MAX_DEPTH = 12
const MAX_ISSUES = 50
const DRAFT = 'https://json-schema.org/draft/2020-12/schema'

// Supported keywords by the form of their value: schemas by name, a list of schemas, one schema, or none. References are not
// supported. With them a short schema can take years to validate, and one API validates the schemas of all tenants.
const SCHEMAS_BY_NAME = new Set(['properties', 'dependentSchemas'])
const LISTS_OF_SCHEMAS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const ONE_SCHEMA = new Set(['items', 'additionalProperties', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'])
const PLAIN = new Set(
  `$schema $comment title description default examples deprecated format type enum const required dependentRequired
   minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems
   minContains maxContains minProperties maxProperties x-secret x-show-if x-reboots`.split(/\s+/),
)

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns the issues of an input schema; empty when it is valid. It must be a JSON Schema (draft 2020-12) of an object that has
 * the variables as properties. `x-secret: true` on a property marks text that is encrypted and never shown. `x-show-if: { other:
 * value }` tells forms to show the property only while the other one has that value. `x-reboots: true` marks a boolean with which a run
 * may reboot its nodes: they are in maintenance while it runs.
 */
export function inputSchemaIssues(schema: Schema): InputIssue[] {
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > MAX_BYTES) return [{ path: '', message: `has ${bytes} bytes as JSON; at most ${MAX_BYTES} are allowed` }]
  const issues = [...rootSchemaIssues(schema), ...unexpectedIn(schema, '', 0)]
  if (issues.length > 0) return issues.slice(0, MAX_ISSUES)
  try {
    const ajv = newAjv()
    if (!ajv.validateSchema(schema))
      return (ajv.errors ?? [])
        .filter((error) => error.keyword !== 'anyOf')
        .slice(0, MAX_ISSUES)
        .map((error) => ({ path: dotted(error.instancePath), message: messageOf(error) }))
    ajv.compile(schema)
    return []
  } catch (error) {
    return [{ path: '', message: (error as Error).message }]
  }
}

function rootSchemaIssues(schema: Schema): InputIssue[] {
  const issues: InputIssue[] = []
  if (schema.type !== 'object')
    issues.push({ path: 'type', message: 'must be object: the properties are the variables of a run' })
  if (schema.$schema !== undefined && schema.$schema !== DRAFT) issues.push({ path: '$schema', message: `must be ${DRAFT}` })
  const properties = isObject(schema.properties) ? schema.properties : {}
  for (const [name, property] of Object.entries(properties)) {
    const path = `properties.${name}`
    const reason = variableNameError(name)
    if (reason) issues.push({ path, message: reason })
    if (!isObject(property)) continue
    if (property['x-secret'] === true) {
      if (property.type !== 'string') issues.push({ path: `${path}.type`, message: 'must be string: a secret is text' })
      for (const keyword of ['default', 'enum', 'const', 'examples'])
        if (keyword in property)
          issues.push({ path: `${path}.${keyword}`, message: 'is not allowed: it would disclose the secret' })
    } else if (property['x-secret'] !== undefined && property['x-secret'] !== false)
      issues.push({ path: `${path}.x-secret`, message: 'must be true or false' })
    if (property['x-reboots'] === true) {
      if (property.type !== 'boolean') issues.push({ path: `${path}.type`, message: 'must be boolean: it allows reboots' })
    } else if (property['x-reboots'] !== undefined && property['x-reboots'] !== false)
      issues.push({ path: `${path}.x-reboots`, message: 'must be true or false' })
    const showIf = property['x-show-if']
    if (showIf === undefined) continue
    const others = isObject(showIf) ? Object.keys(showIf) : []
    if (others.length === 0) issues.push({ path: `${path}.x-show-if`, message: 'must name another property and its value' })
    for (const other of others)
      if (other === name || !Object.hasOwn(properties, other))
        issues.push({ path: `${path}.x-show-if.${other}`, message: 'is not another property of this schema' })
  }
  return issues
}

/** Returns unsupported keywords at any depth. */
function unexpectedIn(schema: unknown, path: string, depth: number): InputIssue[] {
  if (typeof schema === 'boolean') return []
  if (!isObject(schema)) return [{ path, message: 'must be a schema: an object, true or false' }]
  if (depth > MAX_DEPTH) return [{ path, message: `must not be nested deeper than ${MAX_DEPTH} levels` }]
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const here = path === '' ? keyword : `${path}.${keyword}`
    const below = (inner: unknown, key: string | number) => unexpectedIn(inner, `${here}.${key}`, depth + 1)
    if (keyword === '$ref' || keyword === '$defs') return [{ path: here, message: 'is not supported: inline the schema' }]
    if (keyword.startsWith('x-') && depth !== 1)
      return [{ path: here, message: 'is allowed only on properties of the top-level object' }]
    if (keyword === 'uniqueItems' && value === true && !(Number(schema.maxItems) <= 1000))
      return [{ path: here, message: 'requires a maxItems of at most 1000' }]
    if (keyword === 'pattern' && typeof value === 'string')
      return patternIssues(value).map((message) => ({ path: here, message }))
    if (PLAIN.has(keyword)) return []
    if (SCHEMAS_BY_NAME.has(keyword))
      return isObject(value) ? Object.entries(value).flatMap(([name, inner]) => below(inner, name)) : []
    if (LISTS_OF_SCHEMAS.has(keyword)) return Array.isArray(value) ? value.flatMap(below) : []
    if (ONE_SCHEMA.has(keyword)) return unexpectedIn(value, here, depth + 1)
    return [{ path: here, message: 'is not a supported keyword' }]
  })
}

function patternIssues(pattern: string): string[] {
  try {
    RE2JS.compile(pattern)
    return []
  } catch (error) {
    return [`is not a valid RE2 pattern (RE2 has no look-around and no back-references): ${(error as Error).message}`]
  }
}

/** Matches patterns in linear time. A JavaScript regular expression could block the API indefinitely. */
const regExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern)
    // Ajv caches patterns by their text.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern }
  },
  { code: 'linear' },
)

const newAjv = () =>
  new Ajv2020({
    allErrors: true,
    useDefaults: true,
    validateFormats: false,
    ownProperties: true,
    strictTypes: false,
    logger: false,
    code: { regExp },
    keywords: ['x-secret', 'x-show-if', 'x-reboots'],
  })

/**
 * Returns the variables with the schema's defaults.
 * @param schema a schema without `inputSchemaIssues`; null accepts everything
 * @throws InvalidInput at `extraVars.<name>`
 */
export function fillIn(schema: Schema | null, extraVars: Vars): Vars {
  if (!schema) return extraVars
  const vars = structuredClone(extraVars)
  const validate = newAjv().compile(schema)
  if (!validate(vars)) throw new InvalidInput((validate.errors ?? []).slice(0, MAX_ISSUES).map(asIssue))
  return vars
}

/** Names of secret variables. */
export function secretNames(schema: Schema | null): string[] {
  return Object.entries(isObject(schema?.properties) ? schema.properties : {}).flatMap(([name, property]) =>
    isObject(property) && property['x-secret'] === true ? [name] : [],
  )
}

/** Whether a run with these variables may reboot its nodes, by `x-reboots`. */
export function mayReboot(schema: Schema | null, vars: Vars): boolean {
  const properties = Object.entries(isObject(schema?.properties) ? schema.properties : {})
  return properties.some(([name, property]) => isObject(property) && property['x-reboots'] === true && vars[name] === true)
}

const dotted = (pointer: string) => pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')

/** Messages name the allowed values, never the rejected one, because it may be a secret. */
function asIssue(error: ErrorObject): InputIssue {
  const { missingProperty, additionalProperty } = error.params
  return {
    path: ['extraVars', dotted(error.instancePath), missingProperty ?? additionalProperty].filter(Boolean).join('.'),
    message: messageOf(error),
  }
}

function messageOf({ keyword, params, message = 'is wrong' }: ErrorObject): string {
  if (keyword === 'required') return 'is missing'
  if (keyword === 'additionalProperties') return 'is not known to this template'
  if (keyword === 'enum') return `must be one of ${params.allowedValues.map(String).join(', ')}`
  if (keyword === 'type') return `must be of type ${[params.type].flat().join(' or ')}`
  return message
}
