import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './schema.ts'

export const HEADING = '# Printed from apps/api/src by `npm run gen`; do not edit.\n\n'

let printed: string | undefined
/** The schema as SDL. */
export const printedSchema = (): string => (printed ??= `${HEADING}${printSchema(lexicographicSortSchema(schema))}\n`)

// `print-schema.ts [PATH]` writes the schema; `print-schema.ts --check` fails when the committed file differs.
if (import.meta.main) {
  const committed = fileURLToPath(new URL('../schema.graphql', import.meta.url))
  const [argument] = process.argv.slice(2)
  if (argument !== '--check') writeFileSync(argument ?? committed, printedSchema())
  else if (readFileSync(committed, 'utf8') !== printedSchema()) {
    console.error('apps/api/schema.graphql is outdated: run `npm run gen` and commit it.')
    process.exit(1)
  }
}
