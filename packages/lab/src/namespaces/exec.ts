import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { capture, waitUntil } from '../commands.ts'
import { type LabState, startTimeOf } from '../registry.ts'
import type { ExecResult } from '../types.ts'
import { labRoot } from './start.ts'

const fileOf = (state: LabState, node: string, file: string) => path.join(labRoot(state), 'nodes', node, file)

/** Pid of a running node's PID 1 in the host's pid namespace. Throws when the node is down. */
export async function nodeInit(state: LabState, node: string): Promise<number> {
  const pid = Number(await readFile(fileOf(state, node, 'pid'), 'utf8').catch(() => '0'))
  // While booting, the process is still boot.sh.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  if (!command.includes('/usr/lib/lab/init\0')) throw new Error(`Lab node ${node} is not running.`)
  return pid
}

/** Runs argv as root in all of the node's namespaces, without sshd. */
export async function execInNode(state: LabState, node: string, argv: string[], input = ''): Promise<ExecResult> {
  const init = await nodeInit(state, node)
  const spaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--time']
  return capture(['nsenter', '--target', String(init), ...spaces, '--', ...argv], input)
}

/** Resolves with the boot id when the node has booted and its sshd listens. */
export function nodeReady(state: LabState, node: string): Promise<string> {
  return waitUntil(`lab node ${node} to boot`, async () => {
    const pid = await nodeInit(state, node).catch(() => null)
    if (pid === null || startTimeOf(pid) === null || !existsSync(`/proc/${pid}/root/run/sshd.pid`)) return null
    return bootIdOf(state, node)
  })
}

export async function bootIdOf(state: LabState, node: string): Promise<string> {
  return (await readFile(fileOf(state, node, 'boot_id'), 'utf8')).trim()
}

/** Files that may hold the node's current public host key, `ssh-ed25519 AAAA…`, in order of precedence. */
export function hostKeyFiles(state: LabState, node: string): string[] {
  const file = 'etc/ssh/ssh_host_ed25519_key.pub'
  return [fileOf(state, node, `disk/upper/${file}`), fileOf(state, node, `layer/${file}`)]
}
