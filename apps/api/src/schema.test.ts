import { readFileSync } from 'node:fs'
import { NodeImportInput } from '@muster/core/nodes'
import {
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  isUnionType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql'
import { expect, test } from 'vitest'
import { HEADING } from './print-schema.ts'
import { schema } from './schema.ts'
import { PUBLIC } from './testing/isolation/exceptions.ts'

const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type))

test('the committed schema matches the code', () => {
  const committed = readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8')
  expect(committed).toBe(`${HEADING}${printSchema(lexicographicSortSchema(schema))}\n`)
})

test('every type, field, argument and value has a description', () => {
  const missing: string[] = []
  const check = (where: string, { description }: { description?: string | null }) => description?.trim() || missing.push(where)
  for (const type of types as GraphQLNamedType[]) {
    check(type.name, type)
    if (isObjectType(type) || isInterfaceType(type))
      for (const field of Object.values(type.getFields())) {
        check(`${type.name}.${field.name}`, field)
        for (const arg of field.args) check(`${type.name}.${field.name}(${arg.name})`, arg)
      }
    if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) check(`${type.name}.${field.name}`, field)
    if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value)
  }
  for (const directive of schema.getDirectives()) if (!isSpecifiedDirective(directive)) check(`@${directive.name}`, directive)
  expect(missing).toEqual([])
})

test('every root field is public or has auth scopes, and every read names a permission', () => {
  const open: string[] = []
  const publicFields: string[] = []
  for (const root of [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!])
    for (const field of Object.values(root.getFields())) {
      const { authScopes } = (field.extensions.pothosOptions ?? {}) as { authScopes?: Record<string, unknown> }
      if (authScopes?.public) publicFields.push(field.name)
      // The verb of a mutation authorizes it; verbs.test.ts of core checks that.
      else if (!(authScopes?.permission ?? (root === schema.getMutationType() && authScopes?.authenticated)))
        open.push(`${root.name}.${field.name}`)
    }
  expect(open).toEqual([])
  expect(publicFields.sort()).toEqual(PUBLIC)
})

test('every mutation takes one input object and returns a union of payload and errors', () => {
  const deviations: string[] = []
  for (const { name, args, type } of Object.values(schema.getMutationType()!.getFields())) {
    const typeName = name[0]!.toUpperCase() + name.slice(1)
    const result = schema.getType(`${typeName}Result`)
    const follows =
      (args.length === 0 || (args.length === 1 && String(args[0]!.type) === `${typeName}Input!`)) &&
      String(type) === `${typeName}Result!` &&
      isUnionType(result) &&
      result.getTypes().every((member) => member.name === `${typeName}Payload` || member.name.endsWith('Error'))
    if (!follows) deviations.push(name)
  }
  expect(deviations).toEqual([])
})

test('a deprecation states the replacement and the date of removal', () => {
  const incomplete: string[] = []
  const check = (where: string, { deprecationReason }: { deprecationReason?: string | null }) => {
    if (deprecationReason && !/^Use .+\. Removed on \d{4}-\d{2}-\d{2}\.$/.test(deprecationReason)) incomplete.push(where)
  }
  for (const type of types) {
    if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value)
    if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) check(`${type.name}.${field.name}`, field)
    if (isObjectType(type) || isInterfaceType(type))
      for (const field of Object.values(type.getFields())) {
        check(`${type.name}.${field.name}`, field)
        for (const arg of field.args) check(`${type.name}.${field.name}(${arg.name})`, arg)
      }
  }
  expect(incomplete).toEqual([])
})

test('every object type with an ID implements Node', () => {
  const node = schema.getType('Node')
  const others = types
    .filter(isObjectType)
    .filter((type) => type.getFields().id && !type.getInterfaces().some((each) => each === node))
  expect(others.map(({ name }) => name)).toEqual([])
})

/** All fields of object types, as `Type.field`. */
const fields = types
  .filter(isObjectType)
  .flatMap((type) =>
    Object.values(type.getFields()).map((field) => ({ ...field, type, returns: field.type, path: `${type.name}.${field.name}` })),
  )
const mutationNames = Object.keys(schema.getMutationType()!.getFields())

test('a blocked reason is named after the verb of a mutation', () => {
  const verbs = new Set(mutationNames.map((name) => /^[a-z]+/.exec(name)![0]))
  // Not changes: reading the log of a run, downloading a file. Several mutations grant a role.
  for (const verb of ['log', 'download', 'grant']) verbs.add(verb)
  const prefixes = fields.flatMap(({ name, path }) => {
    const verb = /^([a-z]+)\w*BlockedReason$/.exec(name)?.[1]
    return verb ? [[path, verb]] : []
  })
  expect(prefixes.length).toBeGreaterThan(25)
  expect(prefixes.filter(([, verb]) => !verbs.has(verb!)).map(([path]) => path)).toEqual([])
})

test('`after` and `before` are positions in a list or stream', () => {
  const others = fields.filter(
    ({ type, returns, args }) =>
      args.some(({ name }) => name === 'after' || name === 'before') &&
      !/Connection!?$/.test(String(returns)) &&
      type !== schema.getSubscriptionType(),
  )
  expect(others.map(({ path }) => path)).toEqual([])
})

test('the lists of the query type take conditions in `filter`', () => {
  const standard = /^(first|last|after|before|filter|orderBy|include[A-Z]\w*)$/
  const others = fields.filter(
    ({ type, returns, args }) =>
      type === schema.getQueryType() && /Connection!$/.test(String(returns)) && args.some(({ name }) => !standard.test(name)),
  )
  expect(others.map(({ path }) => path)).toEqual([])
})

test('a query with a union of errors takes one input and states that it changes nothing', () => {
  const unions = fields.filter(({ type, returns }) => type === schema.getQueryType() && isUnionType(getNullableType(returns)))
  expect(unions.length).toBeGreaterThan(2)
  for (const { path, args, returns } of unions) {
    expect(
      args.map(({ name }) => name),
      path,
    ).toEqual(['input'])
    expect(getNamedType(returns).description, path).not.toContain('mutation')
  }
})

test('an argument or input field with IDs is named `…Id` or `…Ids`', () => {
  const inputs = types
    .filter(isInputObjectType)
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ ...field, path: `${type.name}.${field.name}` })))
  const args = fields.flatMap((field) => field.args.map((arg) => ({ ...arg, path: `${field.path}(${arg.name})` })))
  const ids = [...inputs, ...args].filter(({ type }) => String(getNamedType(type)) === 'ID')
  expect(ids.length).toBeGreaterThan(50)
  // A filter by a list of values has the name of the field that must have one of them, such as `status` and `nodeId`.
  const isList = ({ path, type }: (typeof ids)[number]) => isListType(getNullableType(type)) && !/Filter\./.test(path)
  const others = ids.filter((each) => !(isList(each) ? /^ids$|Ids$/ : /^id$|Id$/).test(each.name))
  expect(others.map(({ path }) => path)).toEqual([])
})

test('the actor and the time of an action have the same name', () => {
  const nodes = types.filter(isObjectType).filter((type) => type.getFields().id)
  const unpaired = nodes.flatMap((type) =>
    Object.values(type.getFields())
      .filter(({ type: of, name }) => String(getNamedType(of)) === 'Actor' && !type.getFields()[name.replace(/By$/, 'At')])
      .map(({ name }) => `${type.name}.${name}`),
  )
  expect(unpaired).toEqual([])
})

test('the fields of a filter by time are named after the filtered field', () => {
  // FailureSignatureFilter is about the runs of a failure.
  const filtered = { AlertFilter: 'Alert', AuditFilter: 'AuditEntry', JobRunFilter: 'JobRun', FailureSignatureFilter: 'JobRun' }
  const filters = types
    .filter(isInputObjectType)
    .filter((type) => Object.values(type.getFields()).some(({ name }) => /(After|Before)$/.test(name)))
  expect(filters.map(({ name }) => name).sort()).toEqual(Object.keys(filtered).sort())
  for (const filter of filters) {
    const target = schema.getType(filtered[filter.name as keyof typeof filtered])
    for (const { name, description } of Object.values(filter.getFields())) {
      const field = /^(\w+)(After|Before)$/.exec(name)
      if (!field) continue
      expect(isObjectType(target) && Object.keys(target.getFields()), `${filter.name}.${name}`).toContain(`${field[1]}At`)
      expect(description, `${filter.name}.${name}`).toContain(field[2] === 'After' ? 'at this time or later' : 'before this time')
    }
  }
})

test('an input of an update states no defaults: omitted fields keep their values', () => {
  const updates = types.filter(isInputObjectType).filter(({ name }) => /^Update.*Input$/.test(name))
  expect(updates.length).toBeGreaterThan(5)
  const stated = updates.flatMap((type) =>
    Object.values(type.getFields())
      .filter(({ description }) => description?.includes('Default:'))
      .map(({ name }) => `${type.name}.${name}`),
  )
  expect(stated).toEqual([])
})

test('an import accepts every default that its input offers', () => {
  const defaults = NodeImportInput.shape.defaults.unwrap().unwrap()
  const offered = schema.getType('NodeDefaultsInput')
  expect(isInputObjectType(offered) && Object.keys(offered.getFields()).sort()).toEqual(Object.keys(defaults.shape).sort())
})

test('at most 16 fields and arguments have the type JSON', () => {
  const places: string[] = []
  for (const type of types) {
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      if (String(getNamedType(field.type)) === 'JSON') places.push(`${type.name}.${field.name}`)
      if ('args' in field)
        for (const arg of field.args)
          if (String(getNamedType(arg.type)) === 'JSON') places.push(`${type.name}.${field.name}(${arg.name})`)
    }
  }
  expect(places.length, places.join(', ')).toBeLessThanOrEqual(16)
})

test('a list field is a page of a connection or states its bound', () => {
  const unbounded: string[] = []
  for (const type of types) {
    if (!isObjectType(type) || type.name.endsWith('Connection')) continue
    for (const field of Object.values(type.getFields())) {
      if (isListType(getNullableType(field.type)) && !/\bat most\b/i.test(field.description ?? ''))
        unbounded.push(`${type.name}.${field.name}`)
    }
  }
  expect(unbounded).toEqual([])
})

test('every mutation that creates something accepts an idempotency key', () => {
  const creates = Object.keys(schema.getMutationType()!.getFields()).filter((name) =>
    /^(create|add|import|upload|allow|run|retry|discover|test)[A-Z]/.test(name),
  )
  expect(creates.length).toBeGreaterThan(15)
  const without = creates.filter((name) => {
    const input = schema.getType(`${name[0]!.toUpperCase()}${name.slice(1)}Input`)
    return !isInputObjectType(input) || !input.getFields().idempotencyKey
  })
  expect(without).toEqual([])
})
