const MAX_DEPTH = 32

// Names that Ansible sets itself ("Special Variables" in its documentation). Our variables would override the real ones. They
// could, for example, send a task to another host or run it on the controller.
const MAGIC = new Set(
  `dependent_role_names environment group_names groups hostvars inventory_dir inventory_file inventory_hostname
   inventory_hostname_short item omit play_hosts playbook_dir role_name role_names role_path vars`.split(/\s+/),
)
/** Variables of hosts that Muster sets from the fields of nodes. */
export const NODE_VARIABLES = [
  'muster_xname',
  'muster_nid',
  'muster_rack',
  'muster_rack_position',
  'muster_arch',
  'muster_management_ip',
  'muster_boot_mac',
  'muster_interfaces',
  'muster_bmc_address',
  'muster_boot_profile',
] as const
const OWN = new Set<string>(['muster_node_id', 'muster_merged', 'muster_artifact_dir', ...NODE_VARIABLES])
// Ansible rejects these names, because Jinja compiles them to Python.
const KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except false finally for from global if
   import in is lambda none nonlocal not or pass raise return true try while with yield`.split(/\s+/),
)

// Functions of templates. A variable of the same name would hide the function and break the playbook.
const FUNCTIONS = new Set('cycler dict joiner lipsum lookup namespace now q query range self undef'.split(' '))

/** Why a caller cannot set a variable of this name; null when it can. */
export function variableNameError(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name))
    return 'must contain only letters, digits and _, and must not begin with a digit'
  if (/^_*ansible_/i.test(name)) return 'names that begin with ansible_ are reserved: Muster sets them from the node'
  if (MAGIC.has(name)) return 'Ansible itself sets this variable'
  if (OWN.has(name)) return 'Muster itself sets this variable'
  if (KEYWORDS.has(name)) return 'is a Python keyword'
  if (FUNCTIONS.has(name)) return 'is a function of Ansible templates'
  return null
}

type Rule = { allows: (value: unknown) => boolean; message: string }
const text = (pattern: RegExp, message: string): Rule => ({ allows: (v) => typeof v === 'string' && pattern.test(v), message })
const PATH = text(/^[/~][\w./+@-]{0,254}$/, 'must be the path of a file on the node')

/**
 * Variables that Ansible reads and admins may set. They control how tasks run on the node. None can name another machine, a
 * connection or a command on the controller. Nodes that are the worker's own machine do not get them.
 */
const OF_ANSIBLE: Record<string, Rule> = {
  ansible_python_interpreter: text(
    /^(auto|auto_silent|auto_legacy|auto_legacy_silent|\/[\w./+@-]{1,254})$/,
    'must be the path of a Python interpreter on the node, or auto',
  ),
  ansible_remote_tmp: PATH,
  ansible_async_dir: PATH,
  ansible_become_exe: PATH,
  ansible_become_flags: text(/^[\w =./@:,+-]{0,200}$/, 'must be options of sudo or su, without quotes'),
  ansible_pipelining: { allows: (v) => typeof v === 'boolean', message: 'must be true or false' },
  ansible_ssh_timeout: {
    allows: (v) => Number.isInteger(v) && (v as number) >= 1 && (v as number) <= 600,
    message: 'must be a whole number of seconds from 1 to 600',
  },
  ansible_ssh_transfer_method: text(/^(smart|sftp|scp|piped)$/, 'must be smart, sftp, scp or piped'),
}

/** Whether admins may set this variable of Ansible. */
export const isReserved = (name: string): boolean => Object.hasOwn(OF_ANSIBLE, name)

/** Why no user can set this name and value in a scope; null when it is valid. */
export function variableError(name: string, value: unknown): string | null {
  if (isReserved(name)) return OF_ANSIBLE[name]!.allows(value) ? null : OF_ANSIBLE[name]!.message
  if (/^_*ansible_/i.test(name))
    return `Muster sets variables that begin with ansible_ from the node; admins may set ${Object.keys(OF_ANSIBLE).join(', ')}`
  return variableNameError(name)
}

/**
 * Why a nested dictionary cannot have this key; null when it can. Ansible's JSON reserves such keys: it would interpret the
 * value, or reject the whole inventory when it cannot.
 */
export const variableKeyError = (key: string): string | null =>
  key.startsWith('__ansible_') ? 'keys that begin with __ansible_ are reserved by Ansible' : null

/** Why a value cannot be stored or written to a file unchanged; null when it can. */
export function variableValueError(value: unknown, depth = 0): string | null {
  if (depth > MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`
  if (value === null || typeof value === 'boolean') return null
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be a finite number'
  if (typeof value === 'string')
    return value.includes('\u0000') || !value.isWellFormed() ? 'must not contain NUL or unpaired surrogates' : null
  if (typeof value !== 'object') return 'must be JSON'
  for (const [key, inner] of Object.entries(value)) {
    const reason = variableValueError(key) ?? variableKeyError(key) ?? variableValueError(inner, depth + 1)
    if (reason) return reason
  }
  return null
}
