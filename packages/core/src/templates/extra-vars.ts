import { type InputIssue, InvalidInput } from '../kernel/errors.ts'
import { variableNameError, variableValueError } from '../variables/index.ts'
import type { Vars } from './tables.ts'

export { variableNameError }

const MAX_BYTES = 256 * 1024

/** Returns the issues of a caller's variables, by name. Only top-level names are variable names; keys inside values are data. */
export function extraVarIssues(vars: Vars): InputIssue[] {
  const issues = Object.entries(vars).flatMap(([name, value]) => {
    const message = variableNameError(name) ?? variableValueError(value)
    return message ? [{ path: name.slice(0, 80), message }] : []
  })
  if (issues.length > 0) return issues.slice(0, 50)
  const bytes = Buffer.byteLength(JSON.stringify(vars))
  return bytes > MAX_BYTES ? [{ path: '', message: `has ${bytes} bytes as JSON; at most ${MAX_BYTES} are allowed` }] : []
}

/** Validates the variables that a caller passes to a run. @throws InvalidInput with paths `extraVars.<name>` */
export function checkExtraVars(extraVars: Vars): void {
  const issues = extraVarIssues(extraVars)
  if (issues.length > 0)
    throw new InvalidInput(issues.map(({ path, message }) => ({ path: path ? `extraVars.${path}` : 'extraVars', message })))
}
