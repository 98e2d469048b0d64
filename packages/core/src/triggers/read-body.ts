import { type InputIssue, InvalidInput } from '../kernel/errors.ts'
import { expandHostlist } from '../selection/index.ts'
import type { Vars } from '../templates/tables.ts'
import { valueAt } from './json-pointer.ts'
import type { Trigger } from './tables.ts'

const MAX_NODES = 1000
/** Far below the limit of the extra vars of a run, which its template's input schema should narrow. */
const MAX_VALUE_CHARS = 16_384

/** The JSON document of a body; an empty body is an empty object. @throws InvalidInput */
export function parseBody(body: Buffer): unknown {
  if (body.length === 0) return {}
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new InvalidInput([{ path: '', message: 'The body must be JSON in UTF-8.' }])
  }
}

/** The extra vars that a trigger takes from a body. All other values of the body are ignored. @throws InvalidInput */
export function bodyVars({ variables }: Pick<Trigger, 'variables'>, document: unknown): Vars {
  const vars: Vars = {}
  const issues: InputIssue[] = []
  for (const { name, path, isRequired } of variables) {
    const value = valueAt(document, path)
    if (value !== undefined && JSON.stringify(value).length > MAX_VALUE_CHARS)
      issues.push({ path, message: `must have at most ${MAX_VALUE_CHARS} characters` })
    else if (value !== undefined) vars[name] = value
    else if (isRequired) issues.push({ path, message: `is missing in the body; it is the variable ${name}` })
  }
  if (issues.length > 0) throw new InvalidInput(issues)
  return vars
}

/** The node names that a trigger takes from a body: a hostlist, or a list of names. Null: the trigger has no path. @throws InvalidInput */
export function bodyNodes({ nodesPath }: Pick<Trigger, 'nodesPath'>, document: unknown): string[] | null {
  if (!nodesPath) return null
  const value = valueAt(document, nodesPath)
  const texts = Array.isArray(value) ? value : [value]
  if (texts.length === 0 || texts.length > MAX_NODES || !texts.every((text) => typeof text === 'string' && text.length <= 10_000))
    throw new InvalidInput([{ path: nodesPath, message: `must be a hostlist or a list of 1 to ${MAX_NODES} node names` }])
  const tooMany = () => new InvalidInput([{ path: nodesPath, message: `must be a hostlist of at most ${MAX_NODES} node names` }])
  const names: string[] = []
  for (const text of texts as string[]) {
    try {
      names.push(...expandHostlist(text, { max: MAX_NODES }))
    } catch {
      throw tooMany()
    }
    // At once: all texts together can name a thousand times as many, also repeatedly.
    if (names.length > MAX_NODES) throw tooMany()
  }
  return [...new Set(names)]
}
