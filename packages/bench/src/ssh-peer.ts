import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Lab } from '@muster/lab'

export type ParallelShell = 'clush' | 'pdsh'

/** Parallel shells with key login and pinned host keys, on all nodes that are not behind the bastion. Every call opens new connections. */
export function sshPeer(lab: Lab) {
  const dir = mkdtempSync(join(tmpdir(), 'sp-'))
  const hosts = lab.nodes.filter((node) => !node.behindBastion)
  const file = (name: string) => join(dir, name)
  writeFileSync(file('key'), lab.credentials.sshKey.privateKey)
  chmodSync(file('key'), 0o600)
  writeFileSync(file('known_hosts'), hosts.map((node) => `${node.name} ${node.hostPublicKey}\n`).join(''))
  const common = [
    'Host *',
    `User ${lab.credentials.sshKey.username}`,
    `IdentityFile ${file('key')}`,
    'IdentitiesOnly yes',
    `UserKnownHostsFile ${file('known_hosts')}`,
    'StrictHostKeyChecking yes',
    'BatchMode yes',
    'LogLevel ERROR',
  ]
  const perHost = hosts.map((node) => `Host ${node.name}\nHostName ${node.host}\nHostKeyAlias ${node.name}\nPort ${node.port}`)
  writeFileSync(file('config'), `${[...perHost, ...common].join('\n')}\n`)
  const names = hosts.map((node) => node.name).join(',')
  const fanout = String(hosts.length)
  const argv: Record<ParallelShell, string[]> = {
    // -S: the exit code is the largest of the hosts'.
    clush: ['-S', '-f', fanout, '-o', `-F ${file('config')}`, '-w', names],
    pdsh: ['-S', '-R', 'ssh', '-f', fanout, '-w', names],
  }
  const env = { PATH: process.env.PATH, HOME: dir, LANG: 'C.UTF-8', PDSH_SSH_ARGS: `-F ${file('config')} %h` }

  /** Runs a command on all hosts. @returns its output @throws Error when it failed on a host */
  async function run(shell: ParallelShell, command: string): Promise<string> {
    const { stdout } = await promisify(execFile)(shell, [...argv[shell], command], { env, cwd: dir })
    return stdout
  }
  return {
    /** Runs `true` on all hosts. @returns the wall time in ms @throws Error when it failed on a host */
    async time(shell: ParallelShell): Promise<number> {
      const began = performance.now()
      await run(shell, 'true')
      return performance.now() - began
    },
    /** @throws Error when not every host answers */
    async verify(shell: ParallelShell): Promise<void> {
      const answered = (await run(shell, 'echo answered')).match(/: answered$/gm)?.length ?? 0
      if (answered !== hosts.length) throw new Error(`${shell} reached ${answered} of ${hosts.length} hosts`)
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  }
}
