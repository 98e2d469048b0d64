import { readFileSync } from 'node:fs'
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

test('every root field has auth scopes', () => {
  const open: string[] = []
  const publicFields: string[] = []
  for (const root of [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!])
    for (const field of Object.values(root.getFields())) {
      const { authScopes } = (field.extensions.pothosOptions ?? {}) as { authScopes?: Record<string, unknown> }
      if (!authScopes) open.push(`${root.name}.${field.name}`)
      else if (authScopes.public) publicFields.push(field.name)
    }
  expect(open).toEqual([])
  expect(publicFields.sort()).toEqual(['signIn', 'signInWithLink', 'signOut', 'viewer'])
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
  for (const type of types) {
    const members = isEnumType(type)
      ? type.getValues()
      : isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
        ? Object.values(type.getFields())
        : []
    for (const { name, deprecationReason } of members) {
      if (deprecationReason && !/^Use .+\. Removed on \d{4}-\d{2}-\d{2}\.$/.test(deprecationReason))
        incomplete.push(`${type.name}.${name}`)
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

test('at most ten fields and arguments have the type JSON', () => {
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
  expect(places.length, places.join(', ')).toBeLessThanOrEqual(10)
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
