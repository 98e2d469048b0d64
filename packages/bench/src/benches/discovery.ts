import { cpus } from 'node:os'
import { startLab } from '@muster/lab'
import { ansiblePeer } from '../ansible-peer.ts'
import type { Bench } from '../bench.ts'
import { type Client, connect } from '../client.ts'
import { interleave } from '../compare.ts'
import { NODE_FACTS } from '../documents.ts'
import { discover, onboard, signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'
import { type ParallelShell, sshPeer } from '../ssh-peer.ts'

const HOSTS = 32
const PROFILES = ['h100x8', 'mi300x8', 'max1550x4', 'ascend910b3x8', 'ppuzw810ex16', 'cpu'] as const

/**
 * Hosts per second of a discovery through the public API, from the mutation to the last stored snapshot. Peers: Ansible's fact gathering,
 * and the faster of clush and pdsh with `true` as the limit of SSH itself. `--hosts` sets the size.
 */
export const bench: Bench = async ({ rounds, print, option }) => {
  const hosts = option('hosts', HOSTS)
  const lab = await startLab({
    nodes: Array.from({ length: hosts }, (_, i) => ({
      name: `node${String(i + 1).padStart(2, '0')}`,
      profile: PROFILES[i % PROFILES.length]!,
    })),
  })
  const product = await startProduct()
  const ansible = ansiblePeer(lab)
  const ssh = sshPeer(lab)
  try {
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    const ids = await onboard(api, lab)
    print(`${ids.size} nodes onboarded on ${cpus().length} cores`)
    // Onboarding starts a discovery of every node; wait for it outside of the first round.
    await discover(api, [...ids.values()])

    const ours = async () => {
      const began = performance.now()
      const finished = await discover(api, [...ids.values()])
      const ms = performance.now() - began
      const succeeded = finished.filter((each) => each.status === 'SUCCEEDED').length
      if (succeeded !== hosts)
        throw new Error(`the discovery reached ${succeeded} of ${hosts} hosts: ${finished.find((each) => each.error)?.error}`)
      return (succeeded / ms) * 1000
    }
    const setup = (args: string[]) => async () => {
      const { stdout, ms } = await ansible.run('ansible', ['all', '-m', 'setup', ...args])
      const succeeded = stdout.match(/ \| SUCCESS => /g)?.length ?? 0
      if (succeeded !== hosts) throw new Error(`ansible reached ${succeeded} of ${hosts} hosts`)
      return (succeeded / ms) * 1000
    }
    const shells: ParallelShell[] = ['clush', 'pdsh']
    for (const shell of shells) await ssh.verify(shell)
    /** The faster one of both in this round. */
    const parallelShell = async () => {
      const rates: number[] = []
      for (const shell of shells) rates.push((hosts / (await ssh.time(shell))) * 1000)
      print(shells.map((shell, i) => `${shell} ${rates[i]!.toFixed(1)} hosts/s`).join(', '))
      return Math.max(...rates)
    }
    await compareFields(api, (await ansible.run('ansible', ['all', '-m', 'setup'])).stdout)
    print('architecture, kernel, host name, CPU threads and memory agree with Ansible’s facts on every node')
    return [
      {
        comparison: { what: 'discovery_vs_setup', unit: 'hosts/s', kind: 'throughput', goal: 8 },
        samples: await interleave(ours, setup([]), rounds, print),
      },
      {
        comparison: { what: 'discovery_vs_setup_min', unit: 'hosts/s', kind: 'throughput', goal: 5 },
        samples: await interleave(ours, setup(['-a', 'gather_subset=min']), rounds, print),
      },
      {
        comparison: { what: 'discovery_vs_parallel_shell', unit: 'hosts/s', kind: 'throughput', goal: 0.75 },
        samples: await interleave(ours, parallelShell, rounds, print),
      },
    ]
  } finally {
    ansible.close()
    ssh.close()
    await product.stop()
    await lab.down()
  }
}

type Facts = {
  ansible_facts: {
    ansible_architecture: string
    ansible_kernel: string
    ansible_hostname: string
    ansible_processor_vcpus: number
    ansible_memtotal_mb: number
  }
}

/** @throws Error naming the first field that differs from Ansible's */
async function compareFields(api: Client, setup: string): Promise<void> {
  const { nodes } = await api.request(NODE_FACTS, {})
  for (const { node } of nodes.edges) {
    const [, json] = new RegExp(`^${node.name} \\| SUCCESS => (\\{[\\s\\S]*?^\\})`, 'm').exec(setup) ?? []
    if (!json) throw new Error(`ansible returned no facts for ${node.name}`)
    const facts = (JSON.parse(json) as Facts).ansible_facts
    const pairs: [string, unknown, unknown][] = [
      ['arch', node.arch, facts.ansible_architecture],
      ['kernel', node.kernel, facts.ansible_kernel],
      ['hostname', (node.facts as { hostname?: string }).hostname, facts.ansible_hostname],
      ['threads', node.cpu?.threads, facts.ansible_processor_vcpus],
      ['memory MiB', Math.floor((node.memoryBytes ?? 0) / 2 ** 20), facts.ansible_memtotal_mb],
    ]
    for (const [field, ours, theirs] of pairs)
      if (ours !== theirs) throw new Error(`${node.name}: ${field} is ${ours}, but ${theirs} in Ansible's facts`)
  }
}
