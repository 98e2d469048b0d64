import { readFileSync, writeFileSync } from 'node:fs'
import { buildSchema, findBreakingChanges, type GraphQLSchema } from 'graphql'
import { printedSchema } from './print-schema.ts'
import { schema } from './schema.ts'

const RELEASED = new URL('../schema.released.graphql', import.meta.url)
const CHANGELOG = new URL('../../../CHANGELOG.md', import.meta.url)

/**
 * Breaking changes that the changelog does not announce.
 * @param released the contract of the last release
 * @param changelog text of CHANGELOG.md; its section `## Unreleased` names each changed type or field in backquotes
 */
export function unannouncedChanges(released: GraphQLSchema, current: GraphQLSchema, changelog: string): string[] {
  const unreleased = /^## Unreleased$(.*?)(?=^## |$(?![\s\S]))/ms.exec(changelog)?.[1] ?? ''
  const announced = new Set([...unreleased.matchAll(/`([\w.]+)`/g)].map(([, name]) => name))
  return findBreakingChanges(released, current)
    .filter(({ description }) => !namesIn(description).some((name) => announced.has(name)))
    .map(({ description }) => description)
}

/** `NodeGroup.nodes` and `NodeGroup` of a description such as `NodeGroup.nodes was removed.` */
function namesIn(description: string): string[] {
  const names = description.match(/[A-Z]\w*(?:\.\w+)?/g) ?? []
  return names.flatMap((name) => [name, name.split('.')[0]!])
}

// `contract.ts --check` compares the schema with the last release; `contract.ts --release` records the schema as released.
if (import.meta.main) {
  if (process.argv[2] === '--release') writeFileSync(RELEASED, printedSchema())
  else {
    const unannounced = unannouncedChanges(buildSchema(readFileSync(RELEASED, 'utf8')), schema, readFileSync(CHANGELOG, 'utf8'))
    if (unannounced.length > 0) {
      console.error(
        `Breaking changes of the GraphQL contract. Avoid them, or name each type or field in the section Unreleased of CHANGELOG.md:\n${unannounced.join('\n')}`,
      )
      process.exit(1)
    }
  }
}
