import { isCollection, isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml'

const MAX_DEPTH = 64

/** The message has the line and column. */
export class YamlError extends Error {}

/**
 * Parses one YAML 1.1 document, as PyYAML and cloud-init read it. Rejects duplicate keys, custom tags, and aliases that expand to much.
 * The caller limits the length of the text.
 * @throws YamlError
 */
export function parseYaml(text: string): unknown {
  const lines = new LineCounter()
  const fail = (offset: number | undefined, message: string): never => {
    const { line, col } = lines.linePos(offset ?? 0)
    throw new YamlError(`line ${Math.max(1, line)}, column ${Math.max(1, col)}: ${message}`)
  }
  try {
    const document = parseDocument(text, {
      version: '1.1',
      schema: 'yaml-1.1',
      lineCounter: lines,
      prettyErrors: false,
      // The check of the library takes quadratic time.
      uniqueKeys: false,
      logLevel: 'error',
    })
    const [wrong] = [...document.errors, ...document.warnings]
    if (wrong) fail(wrong.pos[0], wrong.message)
    visit(document, {
      Node(_, node, path) {
        const { range } = node as { range?: [number, ...number[]] | null }
        if (isCollection(node) && path.length > 2 * MAX_DEPTH) fail(range?.[0], `is nested deeper than ${MAX_DEPTH} levels`)
        if (!isMap(node)) return
        const keys = new Set<unknown>()
        for (const { key } of node.items) {
          const name = isScalar(key) ? key.value : key
          const at = (key as { range?: [number, ...number[]] | null } | null)?.range?.[0]
          if (keys.has(name)) fail(at, `the key ${String(name).slice(0, 80)} occurs twice`)
          keys.add(name)
        }
      },
    })
    return document.toJS({ maxAliasCount: 100 }) as unknown
  } catch (error) {
    if (error instanceof YamlError) throw error
    if (error instanceof RangeError) return fail(0, `is nested deeper than ${MAX_DEPTH} levels`)
    // The library reports aliases without an anchor, and those that expand to too much, in this way.
    if (error instanceof ReferenceError) return fail(0, error.message)
    throw error
  }
}
