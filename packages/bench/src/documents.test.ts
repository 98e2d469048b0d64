import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildSchema, parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { textOf } from './client.ts'
import * as documents from './documents.ts'

const schema = buildSchema(readFileSync(fileURLToPath(new URL('../../../apps/api/schema.graphql', import.meta.url)), 'utf8'))

test.each(Object.entries(documents))('%s is valid for the committed schema', (_, document) => {
  expect(validate(schema, parse(textOf(document))).map((error) => error.message)).toEqual([])
})
