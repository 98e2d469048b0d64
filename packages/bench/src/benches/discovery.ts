import { cpus } from 'node:os'
import { startLab } from '@muster/lab'
import { ansiblePeer } from '../ansible-peer.ts'
import type { Bench } from '../bench.ts'
import { connect } from '../client.ts'
import { interleave } from '../compare.ts'
import { discover, onboard, signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'

const HOSTS = 32
const PROFILES = ['h100x8', 'mi300x8', 'max1550x4', 'ascend910b3x8', 'ppuzw810ex16', 'cpu'] as const

/** Hosts per second: our sweep through the public API, from the mutation to the last snapshot stored, against Ansible's fact gathering. */
export const bench: Bench = async ({ rounds, say }) => {
  const lab = await startLab({
    nodes: Array.from({ length: HOSTS }, (_, i) => ({
      name: `node${String(i + 1).padStart(2, '0')}`,
      profile: PROFILES[i % PROFILES.length]!,
    })),
  })
  const product = await startProduct()
  const peer = ansiblePeer(lab)
  try {
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    const ids = await onboard(api, lab)
    say(`${ids.size} nodes onboarded on ${cpus().length} cores`)
    // Onboarding looks at every node by itself; wait it out, so that it is not part of the first round.
    await discover(api, [...ids.values()])

    const ours = async () => {
      const began = performance.now()
      const done = await discover(api, [...ids.values()])
      const ms = performance.now() - began
      const good = done.filter((d) => d.status === 'SUCCEEDED').length
      if (good !== HOSTS) throw new Error(`our sweep reached ${good} of ${HOSTS}: ${done.find((d) => d.error)?.error}`)
      return (HOSTS / ms) * 1000
    }
    const theirs = (args: string[]) => async () => {
      const { stdout, ms } = await peer.run('ansible', ['all', '-m', 'setup', ...args])
      const good = stdout.match(/ \| SUCCESS => /g)?.length ?? 0
      if (good !== HOSTS) throw new Error(`ansible reached ${good} of ${HOSTS}`)
      return (HOSTS / ms) * 1000
    }
    await compareFields(api, (await peer.run('ansible', ['all', '-m', 'setup'])).stdout)
    say('architecture, kernel, host name, CPU threads and memory agree with Ansible’s facts on every node')
    return [
      {
        comparison: { what: 'sweep_vs_setup', unit: 'hosts/s', kind: 'throughput', goal: 20 },
        samples: await interleave(ours, theirs([]), rounds, say),
      },
      {
        comparison: { what: 'sweep_vs_setup_min', unit: 'hosts/s', kind: 'throughput', goal: 5 },
        samples: await interleave(ours, theirs(['-a', 'gather_subset=min']), rounds, say),
      },
    ]
  } finally {
    peer.close()
    await product.stop()
    await lab.down()
  }
}

type Row = { name: string; arch: string; kernel: string; cpuThreads: number; memoryBytes: number; facts: { hostname: string } }
type Facts = {
  ansible_facts: {
    ansible_architecture: string
    ansible_kernel: string
    ansible_hostname: string
    ansible_processor_vcpus: number
    ansible_memtotal_mb: number
  }
}

/** @throws Error naming the first field in which the two disagree */
async function compareFields(api: ReturnType<typeof connect>, setup: string): Promise<void> {
  const { nodes } = await api.request<{ nodes: { edges: { node: Row }[] } }>(
    `{ nodes(first: 500) { edges { node { name arch kernel cpuThreads memoryBytes facts } } } }`,
  )
  for (const { node } of nodes.edges) {
    const [, json] = new RegExp(`^${node.name} \\| SUCCESS => (\\{[\\s\\S]*?^\\})`, 'm').exec(setup) ?? []
    if (!json) throw new Error(`ansible gave no facts for ${node.name}`)
    const facts = (JSON.parse(json) as Facts).ansible_facts
    const pairs: [string, unknown, unknown][] = [
      ['arch', node.arch, facts.ansible_architecture],
      ['kernel', node.kernel, facts.ansible_kernel],
      ['hostname', node.facts.hostname, facts.ansible_hostname],
      ['threads', node.cpuThreads, facts.ansible_processor_vcpus],
      ['memory MiB', Math.floor(node.memoryBytes / 2 ** 20), facts.ansible_memtotal_mb],
    ]
    for (const [field, ours, theirs] of pairs)
      if (ours !== theirs) throw new Error(`${node.name}: ${field} is ${ours} for us and ${theirs} for Ansible`)
  }
}
