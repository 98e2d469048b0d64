import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './schema.ts'

// `print-schema.ts [PATH]` writes the contract with clients; `print-schema.ts --check` fails when the committed one is another.
export const HEADING = '# Printed from apps/api/src by `npm run gen`; do not edit.\n\n'

const committed = fileURLToPath(new URL('../schema.graphql', import.meta.url))
const [argument] = process.argv.slice(2)
const text = `${HEADING}${printSchema(lexicographicSortSchema(schema))}\n`

if (import.meta.main && argument !== '--check') writeFileSync(argument ?? committed, text)
else if (import.meta.main && readFileSync(committed, 'utf8') !== text) {
  console.error('apps/api/schema.graphql is not what the code says: run `npm run gen` and commit it.')
  process.exit(1)
}
