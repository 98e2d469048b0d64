import { type InputIssue, InvalidInput } from '../errors.ts'
import type { Vars } from './tables.ts'

const MAX_BYTES = 256 * 1024
const MAX_DEPTH = 32

// Names that Ansible itself fills in ("Special Variables" in its documentation). As extra vars they would win over the
// real ones and could, for example, send a task to another host or run it on the controller.
const MAGIC = new Set(
  `dependent_role_names environment group_names groups hostvars inventory_dir inventory_file inventory_hostname
   inventory_hostname_short item omit play_hosts playbook_dir role_name role_names role_path vars`.split(/\s+/),
)
// Ansible refuses these as names, because Jinja compiles them to Python.
const KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except false finally for from global if
   import in is lambda none nonlocal not or pass raise return true try while with yield`.split(/\s+/),
)

// Functions that templates call by these names: a variable of the same name would be called instead, and break the playbook.
const FUNCTIONS = new Set('cycler dict joiner lipsum lookup namespace now q query range self undef'.split(' '))

/** Why `name` cannot be the name of a variable that a caller sets; null when it can. */
export function whyNotVariable(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name)) return 'must be made of letters, digits and _, and not begin with a digit'
  if (/^_*ansible_/i.test(name)) return 'names that begin with ansible_ are kept for Muster, which sets them from the node'
  if (MAGIC.has(name)) return 'Ansible itself sets this variable'
  if (KEYWORDS.has(name)) return 'is a word of the language that Ansible compiles expressions to'
  if (FUNCTIONS.has(name)) return 'templates call a function of this name'
  return null
}

/** Why a value cannot be stored or written to a file as it is; null when it can. */
function whyNotValue(value: unknown, depth = 0): string | null {
  if (depth > MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`
  if (value === null || typeof value === 'boolean') return null
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be a finite number'
  if (typeof value === 'string')
    return value.includes('\u0000') || !value.isWellFormed() ? 'must not hold NUL or halves of characters' : null
  if (typeof value !== 'object') return 'must be JSON'
  for (const [key, inner] of Object.entries(value)) {
    const reason = whyNotValue(key) ?? whyNotValue(inner, depth + 1)
    if (reason) return reason
  }
  return null
}

/** What is wrong with variables that a caller gives, by name. Only top-level names are names of variables; keys inside values are data. */
export function whyNotVars(vars: Vars): InputIssue[] {
  const issues = Object.entries(vars).flatMap(([name, value]) => {
    const message = whyNotVariable(name) ?? whyNotValue(value)
    return message ? [{ path: name.slice(0, 80), message }] : []
  })
  if (issues.length > 0) return issues.slice(0, 50)
  const bytes = Buffer.byteLength(JSON.stringify(vars))
  return bytes > MAX_BYTES ? [{ path: '', message: `has ${bytes} bytes as JSON; at most ${MAX_BYTES} are allowed` }] : []
}

/**
 * Check the variables that a caller gives to a run.
 * @throws InvalidInput with paths `extraVars.<name>`
 */
export function checkExtraVars(extraVars: Vars): void {
  const issues = whyNotVars(extraVars)
  if (issues.length > 0)
    throw new InvalidInput(issues.map(({ path, message }) => ({ path: path ? `extraVars.${path}` : 'extraVars', message })))
}
