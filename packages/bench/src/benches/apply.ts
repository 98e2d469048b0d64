import { readFileSync } from 'node:fs'
import type { Bench } from '../bench.ts'
import { connect } from '../client.ts'
import { interleave } from '../compare.ts'
import { ADD_NODE, APPLY_MANIFESTS, UPDATE_NODE } from '../documents.ts'
import { signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'

const NODES = 10_000
/** Mutations of the loop: enough for a stable rate. */
const SINGLES = 500
const MAX_PEAK_MB = 1500

type Fields = {
  name: string
  host: string
  nid: number
  rack: string
  interfaces: { name: string; mac: string; isBoot: boolean }[]
}

const nodeAt = (prefix: string, round: number, i: number): Fields => {
  const n = round * NODES * 2 + i
  const mac = `02${n.toString(16).padStart(10, '0')}`.match(/../g)!.join(':')
  return {
    name: `${prefix}${n}`,
    host: `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
    nid: n,
    rack: `R${i % 100}`,
    interfaces: [{ name: 'hsn0', mac, isBoot: true }],
  }
}

const manifestOf = ({ name, ...spec }: Fields): string => `apiVersion: muster/v1
kind: ComputeNode
metadata:
  name: ${name}
spec:
  host: ${spec.host}
  nid: ${spec.nid}
  rack: ${spec.rack}
  interfaces:
    - name: hsn0
      mac: ${spec.interfaces[0]!.mac}
      isBoot: true
`

/** Peak memory of a process in MB. */
const peakMb = (pid: number): number => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

/**
 * Nodes per second: one file with a document for each of 10,000 nodes, compared with a loop of `addNode`; the same file with another
 * rack, and once more without a change, each compared with a loop of `updateNode` that does the same. The peak memory of the API while it applies the files is compared with a limit.
 * `--nodes` sets the size.
 */
export const bench: Bench = async ({ rounds, print, option }) => {
  const nodes = option('nodes', NODES)
  const product = await startProduct({})
  try {
    let session: string | null = null
    const api = connect(product.url, () => session)
    session = await signIn(api, product.linkToken)
    // It tests no nodes meanwhile.
    await product.kill('worker')
    let [applied, added, changed] = [0, 0, 0]
    const apply = async (round: number, change: (node: Fields) => Fields = (node) => node) => {
      const text = Array.from({ length: nodes }, (_, i) => manifestOf(change(nodeAt('file', round, i)))).join('---\n')
      const started = performance.now()
      const { plan } = await api.mutate(APPLY_MANIFESTS, { input: { files: [{ name: 'nodes.yaml', text }] } })
      return { plan, seconds: (performance.now() - started) / 1000 }
    }
    const ours = async () => {
      const round = applied++
      const { plan, seconds } = await apply(round)
      if (!plan.isApplied || plan.createCount !== nodes) throw new Error(JSON.stringify(plan.issues.slice(0, 3)))
      print(`${nodes} nodes applied in ${seconds.toFixed(1)} s`)
      return nodes / seconds
    }
    const ids: string[] = []
    const singles = async () => {
      const round = added++
      const started = performance.now()
      for (let i = 0; i < SINGLES; i++)
        ids.push((await api.mutate(ADD_NODE, { input: nodeAt('single', round, NODES + i) })).node.id)
      return SINGLES / ((performance.now() - started) / 1000)
    }
    const samples = await interleave(ours, singles, rounds, print)
    const move = (node: Fields) => ({ ...node, rack: 'moved' })
    const update = async () => {
      const { plan, seconds } = await apply(changed++, move)
      if (!plan.isApplied || plan.updateCount !== nodes) throw new Error(JSON.stringify(plan.issues.slice(0, 3)))
      print(`${nodes} nodes changed in ${seconds.toFixed(1)} s`)
      return nodes / seconds
    }
    const updatesOf = (some: string[]) => async () => {
      const started = performance.now()
      for (const id of some.splice(0, SINGLES)) await api.mutate(UPDATE_NODE, { input: { id, rack: 'moved' } })
      return SINGLES / ((performance.now() - started) / 1000)
    }
    const updateSamples = await interleave(update, updatesOf([...ids]), rounds, print)
    let repeated = 0
    const repeat = async () => {
      const { plan, seconds } = await apply(repeated++, move)
      if (plan.unchangedCount !== nodes) throw new Error('the second call changed something')
      print(`${nodes} nodes applied without a change in ${seconds.toFixed(1)} s`)
      return nodes / seconds
    }
    const repeatSamples = await interleave(repeat, updatesOf([...ids]), rounds, print)
    const peak = peakMb(product.pid('api'))
    print(`peak memory of the API: ${peak.toFixed(0)} MB`)
    return [
      { comparison: { what: 'apply_of_single_mutations', unit: 'nodes/s', kind: 'throughput', goal: 20 }, samples },
      {
        comparison: { what: 'update_of_single_mutations', unit: 'nodes/s', kind: 'throughput', goal: 20 },
        samples: updateSamples,
      },
      {
        comparison: { what: 'unchanged_of_single_mutations', unit: 'nodes/s', kind: 'throughput', goal: 20 },
        samples: repeatSamples,
      },
      { comparison: { what: 'peak_memory', unit: 'MB', kind: 'cost', goal: 1 }, samples: [{ ours: peak, peer: MAX_PEAK_MB }] },
    ]
  } finally {
    await product.stop()
  }
}
