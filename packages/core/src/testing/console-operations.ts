import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CONSOLE = fileURLToPath(new URL('../../../../apps/console/src', import.meta.url))

/**
 * The console's GraphQL query of this name as the console sends it, with its fragments. Read from the console's source, so that tests
 * and benchmarks follow it.
 */
export function consoleQuery(name: string): string {
  const definitions = new Map<string, string>()
  for (const file of globSync('**/*.{ts,tsx}', { cwd: CONSOLE }))
    for (const [, text] of readFileSync(join(CONSOLE, file), 'utf8').matchAll(/graphql\(\s*`([^`]*)`/g)) {
      const [, defined] = /^\s*(?:query|mutation|subscription|fragment)\s+(\w+)/.exec(text!) ?? []
      if (defined) definitions.set(defined, text!)
    }
  const used = new Set<string>()
  const use = (definition: string) => {
    if (used.has(definition)) return
    const text = definitions.get(definition)
    if (text === undefined) throw new Error(`The console defines no GraphQL operation or fragment ${definition}.`)
    used.add(definition)
    for (const [, fragment] of text.matchAll(/\.\.\.\s*(?!on\b)(\w+)/g)) use(fragment!)
  }
  use(name)
  return [...used].map((definition) => definitions.get(definition)!.trim()).join('\n')
}
