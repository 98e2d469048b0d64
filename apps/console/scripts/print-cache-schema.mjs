import fs from 'node:fs'
import { buildSchema, isAbstractType, isInterfaceType, isObjectType } from 'graphql'

// Prints what the normalized cache needs to know of the schema: src/graphql/cache-schema.ts. Run by `npm run gen`.
const schema = buildSchema(fs.readFileSync(new URL('../../api/schema.graphql', import.meta.url), 'utf8'))
const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__'))
const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
const embedded = types.filter(
  (type) => isObjectType(type) && !roots.includes(type) && !type.getFields().id && !/(Connection|Edge)$/.test(type.name),
)
const possible = types.filter((type) => isInterfaceType(type) && isAbstractType(type))
const list = (names) =>
  `[${names
    .sort()
    .map((name) => `'${name}'`)
    .join(', ')}]`
fs.writeFileSync(
  new URL('../src/graphql/cache-schema.ts', import.meta.url),
  `// Printed from apps/api/schema.graphql by \`npm run gen\`; do not edit.
// biome-ignore-all format: generated

/** Object types of each interface. */
export const possibleTypes = {
${possible.map((type) => `  ${type.name}: ${list(schema.getPossibleTypes(type).map(({ name }) => name))},`).join('\n')}
}

/** Object types without an ID; the cache stores them in their parent. */
export const embeddedTypes = ${list(embedded.map(({ name }) => name))}
`,
)
