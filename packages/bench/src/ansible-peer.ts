import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Lab } from '@muster/lab'

export type AnsiblePeer = {
  /** Runs `ansible` or `ansible-playbook` against the lab. @returns stdout and the wall time in ms @throws Error when it failed */
  run(program: 'ansible' | 'ansible-playbook', args: string[]): Promise<{ stdout: string; ms: number }>
  /** Environment of one call. */
  env(): Record<string, string>
  /** The arguments `-i INVENTORY`. */
  inventory: string[]
  close(): void
}

/**
 * Ansible with recommended settings on the lab: key login, pinned host keys, pipelining, one fork per host. Every call opens new SSH
 * connections, as ours do, because it has its own control directory.
 */
export function ansiblePeer(lab: Lab): AnsiblePeer {
  const dir = mkdtempSync(join(tmpdir(), 'ap-'))
  const key = join(dir, 'key')
  writeFileSync(key, lab.credentials.sshKey.privateKey)
  chmodSync(key, 0o600)
  const hosts = lab.nodes.filter((n) => !n.behindBastion)
  writeFileSync(
    join(dir, 'known_hosts'),
    hosts.map((n) => `${n.port === 22 ? n.host : `[${n.host}]:${n.port}`} ${n.hostPublicKey}`).join('\n'),
  )
  const user = lab.credentials.sshKey.username
  writeFileSync(
    join(dir, 'hosts'),
    hosts.map((n) => `${n.name} ansible_host=${n.host} ansible_port=${n.port} ansible_user=${user}`).join('\n'),
  )
  const ansible = process.env.ANSIBLE_PLAYBOOK
  const bin = ansible ? `${dirname(ansible)}/` : ''
  let calls = 0
  const inventory = ['-i', join(dir, 'hosts')]
  const env = () => ({
    PATH: process.env.PATH ?? '',
    HOME: dir,
    LANG: 'C.UTF-8',
    ANSIBLE_PIPELINING: 'True',
    ANSIBLE_SSH_CONTROL_PATH_DIR: join(dir, `c${calls++}`),
    ANSIBLE_PRIVATE_KEY_FILE: key,
    ANSIBLE_SSH_ARGS: `-o UserKnownHostsFile=${join(dir, 'known_hosts')} -o ControlMaster=auto -o ControlPersist=2s`,
    ANSIBLE_FORKS: String(hosts.length),
    ANSIBLE_PYTHON_INTERPRETER: '/usr/bin/python3',
  })
  return {
    env,
    inventory,
    async run(program, args) {
      const began = performance.now()
      const stdout = await new Promise<string>((resolve, reject) =>
        execFile(`${bin}${program}`, [...inventory, ...args], { env: env(), cwd: dir, maxBuffer: 1 << 28 }, (error, out, err) =>
          error ? reject(new Error(`${program} ${args.join(' ')}: ${err || out}`)) : resolve(out),
        ),
      )
      return { stdout, ms: performance.now() - began }
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  }
}
