import { type ChildProcess, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startLab } from '@muster/lab'
import { type AnsiblePeer, ansiblePeer } from '../ansible-peer.ts'
import type { Bench } from '../bench.ts'
import { interleave, type Sample } from '../compare.ts'

const PLAYBOOK = fileURLToPath(new URL('../../../../playbooks/connectivity_check.yml', import.meta.url))
const WARM = fileURLToPath(new URL('../load/warm-ansible.py', import.meta.url))
const RUNS_PER_ROUND = 3
const GOAL = 0.75

/**
 * Wall time of a run on one host when Ansible is forked from a process with preloaded modules, relative to ansible-playbook.
 * `libraries` preloads third-party modules, which is safe; `all` preloads Ansible's own modules too, which is the maximum gain. Muster
 * starts a new process per run anyway: Ansible's modules read settings during their import, and a fork cannot have a user and root
 * directory of its own, as isolated runs do.
 */
export const bench: Bench = async ({ rounds, print }) => {
  const lab = await startLab({ nodes: [{ name: 'node1', profile: 'cpu' }] })
  const peer = ansiblePeer(lab)
  const warm = { libraries: await startWarm(peer, 'libraries'), all: await startWarm(peer, 'all') }
  try {
    const repeated = (once: () => Promise<number>) => async () => {
      let sum = 0
      for (let i = 0; i < RUNS_PER_ROUND; i++) sum += await once()
      return sum / RUNS_PER_ROUND
    }
    const bare = repeated(async () => (await peer.run('ansible-playbook', [PLAYBOOK])).ms)
    const results = []
    for (const what of ['libraries', 'all'] as const) {
      await bare()
      await warm[what].run()
      const samples: Sample[] = await interleave(repeated(warm[what].run), bare, rounds, print)
      results.push({ comparison: { what, unit: 'ms', kind: 'cost' as const, goal: GOAL }, samples })
    }
    return results
  } finally {
    for (const one of Object.values(warm)) one.child.kill()
    peer.close()
    await lab.down()
  }
}

type Warm = { child: ChildProcess; run(): Promise<number> }

async function startWarm(peer: AnsiblePeer, imports: 'libraries' | 'all'): Promise<Warm> {
  const ansible = process.env.ANSIBLE_PLAYBOOK
  const python = ansible ? join(dirname(ansible), 'python3') : 'python3'
  const env = peer.env()
  const child = spawn(python, [WARM, imports], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const next = async () => {
    const line = await lines.next()
    if (line.done) throw new Error('the preloaded Ansible exited')
    return line.value
  }
  if ((await next()) !== 'READY') throw new Error('the preloaded Ansible did not start')
  let runs = 0
  return {
    child,
    async run() {
      const began = performance.now()
      const control = `ansible_control_path_dir=${env.ANSIBLE_SSH_CONTROL_PATH_DIR}-${runs++}`
      child.stdin!.write(`${JSON.stringify([...peer.inventory, '-e', control, PLAYBOOK])}\n`)
      let isOk = false
      for (;;) {
        const line = await next()
        isOk ||= /ok=[1-9].*unreachable=0.*failed=0/.test(line)
        if (!line.startsWith('EXIT ')) continue
        if (line !== 'EXIT 0' || !isOk) throw new Error(`a run of the preloaded Ansible failed: ${line}`)
        return performance.now() - began
      }
    },
  }
}
