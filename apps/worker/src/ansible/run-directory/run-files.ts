import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobRun } from '@muster/core/runs'
import { loginKey } from '../../ssh/login-key.ts'
import type { Machine, RunPlan, Target } from '../inventory/plan-run.ts'
import { hostEntries, mergedNames } from '../inventory/run-vars.ts'
import { quoted, unsafe, variables } from '../inventory/unsafe-yaml.ts'
import { artifactDir, socketPaths } from './run-paths.ts'
import { ANSIBLE_CONTENT } from './shipped-playbooks.ts'

export type RunFiles = { inventory: string; extraVars: string; ansibleConfig: string }
type RunFileOptions = {
  /** The run's private directory. */
  dir: string
  /** Directory of its sockets and SSH files: short, and without characters that SSH splits at. */
  sshDir: string
  /** Directory of the playbooks of templates with the source SHIPPED. */
  playbooks: string
  /** Root folder of the run's playbook project. */
  project: string
  connectTimeoutS: number
}

/** Writes all files that ansible-playbook and SSH read. None contains a secret. */
export async function writeRunFiles(options: RunFileOptions, run: JobRun, plan: RunPlan): Promise<RunFiles> {
  const { dir, sshDir } = options
  const keys = publicKeys(plan, sshDir)
  const machines = [...plan.bastions, ...plan.targets.flatMap((target) => target.machine ?? [])]
  const merged = mergedNames(plan.targets, run.extraVars)
  const files: RunFiles = {
    inventory: join(dir, 'inventory.yml'),
    extraVars: join(dir, 'extra-vars.yml'),
    ansibleConfig: join(dir, 'ansible.cfg'),
  }
  const texts: [string, string][] = [
    [files.inventory, inventory(plan.targets, merged, (target) => connectionVars(target, run, sshDir, keys))],
    [files.extraVars, extraVars(run, dir, Object.keys(plan.secretVars), merged)],
    [files.ansibleConfig, ansibleConfig(options)],
    [`${sshDir}/config`, sshConfig(options, plan.bastions, keys)],
    [`${sshDir}/known_hosts`, machines.map((machine) => `${machine.alias} ${machine.hostKey}\n`).join('')],
    ...[...keys.values()].map(({ file, publicKey }): [string, string] => [file, `${publicKey}\n`]),
  ]
  await Promise.all(texts.map(([path, text]) => writeFile(path, text, { mode: 0o600 })))
  return files
}

/** By private key: the file of its public key, which makes SSH ask the agent for this key only. */
type Keys = Map<string, { file: string; publicKey: string }>

function publicKeys(plan: RunPlan, sshDir: string): Keys {
  const keys: Keys = new Map()
  for (const { login } of [...plan.bastions, ...plan.targets.flatMap((target) => target.machine ?? [])]) {
    if (!login.privateKey || keys.has(login.privateKey)) continue
    const key = loginKey(login.privateKey, login.passphrase)
    const publicKey = `${key.type} ${key.getPublicSSH().toString('base64')}`
    keys.set(login.privateKey, { file: `${sshDir}/k${keys.size}.pub`, publicKey })
  }
  return keys
}

/** SSH options for one machine. Only the methods of its credential are tried, so that MaxAuthTries is never exceeded. */
function loginOptions({ alias, login, via }: Machine, sshDir: string, keys: Keys): [string, string][] {
  const key = login.privateKey ? keys.get(login.privateKey) : undefined
  const hasPassword = login.password !== undefined
  const methods = [...(key ? ['publickey'] : []), ...(hasPassword ? ['password', 'keyboard-interactive'] : [])]
  return [
    ['HostKeyAlias', alias],
    ['ControlMaster', 'auto'],
    ['ControlPersist', '600s'],
    ['ControlPath', `${socketPaths(sshDir).masters}/${alias}`],
    ['PubkeyAuthentication', key ? 'yes' : 'no'],
    ['IdentityFile', key?.file ?? 'none'],
    ['PasswordAuthentication', hasPassword ? 'yes' : 'no'],
    ['KbdInteractiveAuthentication', hasPassword ? 'yes' : 'no'],
    ['PreferredAuthentications', methods.join(',')],
    ['StrictHostKeyChecking', 'yes'],
    ...(via ? [proxyOption(via, sshDir)] : []),
  ]
}

/**
 * Connects through a bastion. A cancel signals the process group of ansible-playbook, but this connection must outlive it for the
 * cleanup on the node; hence setsid(1), where it exists.
 */
function proxyOption(via: string, sshDir: string): [string, string] {
  if (process.platform !== 'linux') return ['ProxyJump', via]
  return ['ProxyCommand', `setsid ssh -F ${sshDir}/config -W [%h]:%p ${via}`]
}

function sshConfig({ sshDir, connectTimeoutS }: RunFileOptions, bastions: Machine[], keys: Keys): string {
  const blocks = bastions.map((bastion) => {
    const options: [string, string][] = [
      ['HostName', bastion.host.replaceAll('%', '%%')],
      ['Port', String(bastion.port)],
      ['User', bastion.login.username],
      ...loginOptions(bastion, sshDir, keys),
    ]
    return `Host ${bastion.alias}\n${options.map(([name, value]) => `  ${name} ${value}\n`).join('')}`
  })
  return `${blocks.join('')}Host *
  IdentityAgent ${socketPaths(sshDir).agent}
  IdentitiesOnly yes
  UserKnownHostsFile ${sshDir}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  UpdateHostKeys no
  CheckHostIP no
  VerifyHostKeyDNS no
  IgnoreUnknown GSSAPIAuthentication
  GSSAPIAuthentication no
  HostbasedAuthentication no
  ForwardAgent no
  ForwardX11 no
  NumberOfPasswordPrompts 1
  ConnectTimeout ${connectTimeoutS}
  ServerAliveInterval 10
  ServerAliveCountMax 3
  TCPKeepAlive yes
`
}

/**
 * Renders the inventory. Connection variables come last and override others; groups contain only hosts. Passwords and secret
 * variables are looked up when needed, see `run-secrets.ts`.
 */
export function inventory(targets: Target[], merged: Set<string>, connection: (target: Target) => string[]): string {
  const hosts = targets.map((target) => {
    const entries = [...hostEntries(target, merged, target.machine === null), ...connection(target)]
    return `    ${quoted(target.name)}: {${entries.join(', ')}}\n`
  })
  const members = new Map<string, string[]>()
  for (const { name, groups } of targets)
    for (const group of groups) {
      const known = members.get(group)
      if (known) known.push(name)
      else members.set(group, [name])
    }
  const groups = [...members].map(
    ([group, names]) => `    ${group}: {hosts: {${names.map((name) => `${quoted(name)}: `).join(', ')}}}\n`,
  )
  return `all:\n  hosts:\n${hosts.join('')}${groups.length > 0 ? `  children:\n${groups.join('')}` : ''}`
}

function connectionVars(
  { machine, nodeId, become, python, vars: own }: Target,
  run: JobRun,
  sshDir: string,
  keys: Keys,
): string[] {
  const vars = [`muster_node_id: ${quoted(nodeId)}`]
  if (machine) {
    const args = loginOptions(machine, sshDir, keys).map(([name, value]) => `-o '${name}=${value}'`)
    vars.push(
      'ansible_connection: ssh',
      `ansible_host: ${unsafe(machine.host)}`,
      `ansible_port: ${machine.port}`,
      `ansible_user: ${unsafe(machine.login.username)}`,
      `ansible_ssh_args: ${quoted(`-F ${sshDir}/config ${args.join(' ')}`)}`,
      // In batch mode sftp could not ask for the password when it has to reconnect.
      `ansible_sftp_batch_mode: ${machine.login.password === undefined}`,
    )
    // An interpreter that an admin set takes precedence.
    if (python && !own.some((each) => each.name === 'ansible_python_interpreter'))
      vars.push(`ansible_python_interpreter: ${python}`)
  } else vars.push('ansible_connection: local', 'ansible_python_interpreter: "{{ ansible_playbook_python }}"')
  // A template with another become user than root means that user; otherwise the node's become credential decides.
  const user = run.becomeUser === 'root' ? become.user : run.becomeUser
  const method = become.method === 'su' ? 'su' : run.becomeMethod
  vars.push(`ansible_become_method: ${unsafe(method)}`, `ansible_become_user: ${unsafe(user)}`)
  if (become.password !== null)
    vars.push(`ansible_become_password: "{{ lookup('muster_secret', 'become', '${machine?.alias ?? nodeId}') }}"`)
  return vars
}

/** Secret variables are looked up when a task uses them, see `run-secrets.ts`; merged ones refer to host variables. */
function extraVars(run: JobRun, dir: string, secrets: string[], merged: Set<string>): string {
  const own = { ...run.extraVars, muster_artifact_dir: artifactDir(dir) }
  const plain = Object.fromEntries(Object.entries(own).filter(([name]) => !merged.has(name)))
  const templates = [
    ...secrets.map((name) => [name, `{{ lookup('muster_secret', 'var', '${name}') }}`]),
    ...[...merged].map((name) => [name, `{{ muster_merged['${name}'] }}`]),
  ]
  return `${variables(plain, Object.fromEntries(templates))}\n`
}

function ansibleConfig({ dir, playbooks, project, connectTimeoutS }: RunFileOptions): string {
  // The project first, for a playbook that is not in the same folder as its roles.
  const roots = [...new Set([project, playbooks, ANSIBLE_CONTENT])]
  return `[defaults]
stdout_callback = muster
callback_plugins = ${ANSIBLE_CONTENT}/plugins/callback
lookup_plugins = ${ANSIBLE_CONTENT}/plugins/lookup
library = ${ANSIBLE_CONTENT}/modules
roles_path = ${roots.map((root) => `${root}/roles`).join(':')}
collections_path = ${roots.map((root) => `${root}/collections`).join(':')}
vars_plugins_enabled =
local_tmp = ${dir}/tmp
retry_files_enabled = False
host_key_checking = True
interpreter_python = auto_silent
timeout = ${connectTimeoutS}
nocows = True
force_color = True
localhost_warning = False

[inventory]
enable_plugins = yaml
any_unparsed_is_failed = True

[connection]
pipelining = True

[ssh_connection]
pipelining = True
retries = 0

[persistent_connection]
control_path_dir = ${dir}/home/pc
`
}
