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
const WORTH_IT = 0.75

/**
 * Whether an Ansible that has done its imports beforehand, and is forked for each run, would be worth having: a run on one host
 * beside that of ansible-playbook itself. `libraries` are imported before the run's settings are known, which is safe; `all` are
 * Ansible's own modules too, which shows what is to be gained at most. We start each run afresh nevertheless: what Ansible's
 * modules read of the settings while they are imported would be one run's for all, and a fork of one process can have neither a
 * user nor a root directory of its own as an isolated run does.
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
      results.push({ comparison: { what, unit: 'ms', kind: 'cost' as const, goal: WORTH_IT }, samples })
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
    if (line.done) throw new Error('the prepared Ansible ended')
    return line.value
  }
  if ((await next()) !== 'READY') throw new Error('the prepared Ansible did not start')
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
        if (line !== 'EXIT 0' || !isOk) throw new Error(`a run of the prepared Ansible failed: ${line}`)
        return performance.now() - began
      }
    },
  }
}
