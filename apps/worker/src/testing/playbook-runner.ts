import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Lab } from '@muster/lab'
import { variables } from '../ansible/inventory/unsafe-yaml.ts'

const playbooks = path.resolve(import.meta.dirname, '../../../../playbooks')

export interface PlaybookResult {
  code: number | null
  output: string
  /** Counts of the play recap by host. */
  recap: Record<string, Record<'ok' | 'changed' | 'unreachable' | 'failed' | 'skipped' | 'rescued' | 'ignored', number>>
}

/** Runs the shipped playbooks with ansible-playbook on lab nodes, as root over SSH and without a worker. */
export function createPlaybookRunner(lab: Lab, from = playbooks) {
  const dir = mkdtempSync('/tmp/mp-')
  writeFileSync(path.join(dir, 'key'), lab.credentials.rootKey!.privateKey, { mode: 0o600 })
  writeFileSync(path.join(dir, 'known'), lab.nodes.map((node) => `${node.host} ${node.hostPublicKey}\n`).join(''))
  const hosts = lab.nodes.map((node) => `${node.name} ansible_host=${node.host} ansible_port=${node.port}\n`)
  writeFileSync(path.join(dir, 'hosts'), hosts.join(''))
  const env = {
    PATH: process.env.PATH,
    HOME: dir,
    LANG: 'C.UTF-8',
    ANSIBLE_ROLES_PATH: path.join(from, 'roles'),
    ANSIBLE_LIBRARY: path.join(from, 'modules'),
    ANSIBLE_REMOTE_USER: 'root',
    ANSIBLE_PRIVATE_KEY_FILE: path.join(dir, 'key'),
    ANSIBLE_SSH_ARGS: `-o UserKnownHostsFile=${dir}/known -o StrictHostKeyChecking=yes -o ControlMaster=auto -o ControlPersist=30s`,
    ANSIBLE_SSH_CONTROL_PATH_DIR: path.join(dir, 'c'),
    ANSIBLE_PIPELINING: '1',
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_PYTHON_INTERPRETER: 'auto_silent',
  }

  let plays = 0
  async function play(playbook: string, limit: string[], vars: object = {}, flags: string[] = []): Promise<PlaybookResult> {
    // In the worker's format: strings are not evaluated as templates.
    const extraVars = path.join(dir, `vars-${++plays}.yml`)
    writeFileSync(extraVars, variables({ ...vars }))
    const argv = ['-i', path.join(dir, 'hosts'), '--extra-vars', `@${extraVars}`, '--limit', limit.join(','), ...flags]
    const child = spawn(process.env.ANSIBLE_PLAYBOOK!, [...argv, path.join(from, `${playbook}.yml`)], { env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
    const lines = output
      .split('PLAY RECAP')
      .at(-1)!
      .matchAll(/^(\S+)\s+: (ok=.*)$/gm)
    const recap = Object.fromEntries(
      [...lines].map(([, host, counts]) => [
        host!,
        Object.fromEntries([...counts!.matchAll(/(\w+)=(\d+)/g)].map(([, name, count]) => [name!, Number(count)])),
      ]),
    ) as PlaybookResult['recap']
    return { code, output, recap }
  }
  return { play, remove: () => rm(dir, { recursive: true, force: true }) }
}
