import { fileURLToPath } from 'node:url'
import { startLab } from '@muster/lab'
import { ansiblePeer } from '../ansible-peer.ts'
import type { Bench } from '../bench.ts'
import { connect } from '../client.ts'
import { interleave, percentile, type Sample } from '../compare.ts'
import { followRun, onboard, readRun, runJob, signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'

const PLAYBOOK = fileURLToPath(new URL('../../../../playbooks/connectivity_check.yml', import.meta.url))
const LIMIT_MS = 50
const RUNS_PER_ROUND = 5

/** Overhead of a run on one host: time from the mutation to the exec of ansible-playbook by phase, and wall time until the follower receives the end. */
export const bench: Bench = async ({ rounds, print }) => {
  const lab = await startLab({ nodes: [{ name: 'node1', profile: 'cpu' }] })
  const product = await startProduct()
  const peer = ansiblePeer(lab)
  try {
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    await onboard(api, lab)
    const toExec: number[] = []
    /** Phases of `toExec`. */
    const toClaim: number[] = []
    const claimToExec: number[] = []
    const once = async () => {
      const began = performance.now()
      const id = await runJob(api, { template: 'connectivity_check', limit: 'node1' })
      for await (const batch of followRun(api, id, 0)) void batch
      const ms = performance.now() - began
      const { status, createdAt, startedAt, ansibleStartedAt } = await readRun(api, id)
      if (status !== 'SUCCEEDED' || !startedAt || !ansibleStartedAt) throw new Error(`the run ended with ${status}`)
      // createdAt is the start of the mutation's transaction.
      toExec.push(Date.parse(ansibleStartedAt) - Date.parse(createdAt))
      toClaim.push(Date.parse(startedAt) - Date.parse(createdAt))
      claimToExec.push(Date.parse(ansibleStartedAt) - Date.parse(startedAt))
      return ms
    }
    const repeated = (one: () => Promise<number>) => async () => {
      let sum = 0
      for (let i = 0; i < RUNS_PER_ROUND; i++) sum += await one()
      return sum / RUNS_PER_ROUND
    }
    const bare = async () => (await peer.run('ansible-playbook', [PLAYBOOK])).ms
    // Warm-up: the first run of a new process takes five times as long.
    for (let i = 0; i < RUNS_PER_ROUND; i++) await once()
    await bare()
    for (const durations of [toExec, toClaim, claimToExec]) durations.length = 0
    const wall = await interleave(repeated(once), repeated(bare), rounds, print)
    const perRound: Sample[] = Array.from({ length: rounds }, (_, r) => ({
      ours: percentile(toExec.slice(r * RUNS_PER_ROUND, (r + 1) * RUNS_PER_ROUND), 0.95),
      peer: LIMIT_MS,
    }))
    const all: Sample[] = perRound.map(() => ({ ours: percentile(toExec, 0.95), peer: LIMIT_MS }))
    print(`to exec, p95 of each round: ${perRound.map((s) => s.ours).join(', ')} ms`)
    for (const [phase, durations] of [
      ['mutation to claim (commit, queue wake-up, claim)', toClaim],
      ['claim to exec (access, secrets, variables, run files, isolation, spawn)', claimToExec],
    ] as const)
      print(`${phase}: median ${percentile(durations, 0.5)} ms, p95 ${percentile(durations, 0.95)} ms`)
    return [
      { comparison: { what: 'mutation_to_exec_p95', unit: 'ms', kind: 'cost', goal: 1 }, samples: all },
      { comparison: { what: 'one_host_run_wall', unit: 'ms', kind: 'cost', goal: 1.05 }, samples: wall },
    ]
  } finally {
    peer.close()
    await product.stop()
    await lab.down()
  }
}
