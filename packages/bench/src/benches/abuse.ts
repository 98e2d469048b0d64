import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Bench } from '../bench.ts'
import { connect } from '../client.ts'
import { interleave, percentile } from '../compare.ts'
import { NODE_PAGE } from '../documents.ts'
import { seedFleet } from '../fleet.ts'
import { ABUSES } from '../load/abuses.ts'
import { createViewerToken, signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'

const LOAD = fileURLToPath(new URL('../load/abuse-load.ts', import.meta.url))
const NODES = 2000
const PAGE = 50
/** Requests of the healthy user per measurement, and the pause between two. */
const REQUESTS = 300
const THINK_MS = 5
/** Connections of the abusive client. */
const CONNECTIONS = 8
const ALL = Number.MAX_SAFE_INTEGER

/**
 * What one abusive client costs others: the p99 of a user who reads pages of nodes, while another client sends requests that exceed a
 * limit, and without them. Every answer to the abusive client is counted; another one than the limit's ends the benchmark.
 * Sizes: `--nodes`, `--requests`, `--connections`; `--only 1` measures the first kind.
 */
export const bench: Bench = async ({ rounds, print, option, random }) => {
  const nodes = option('nodes', NODES)
  const requests = option('requests', REQUESTS)
  const connections = option('connections', CONNECTIONS)
  /** Only this kind, counted from 1. */
  const only = option('only', ALL)
  const product = await startProduct()
  try {
    let session: string | null = null
    const api = connect(product.url, () => session)
    session = await signIn(api, product.linkToken)
    const abuser = await createViewerToken(api)
    // The worker serves no requests, and its polling would distort the measurement.
    await product.kill('worker')
    await seedFleet(product.databaseUrl, nodes)

    const healthy = async (): Promise<number> => {
      const times: number[] = []
      for (let i = 0; i < requests; i++) {
        const began = performance.now()
        const { nodes: page } = await api.request(NODE_PAGE, { first: PAGE })
        times.push(performance.now() - began)
        if (page.edges.length !== PAGE) throw new Error(`the healthy user got ${page.edges.length} of ${PAGE} nodes`)
        await new Promise((resolve) => setTimeout(resolve, THINK_MS * (0.5 + random())))
      }
      return percentile(times, 0.99)
    }
    // The second one is measured with compiled code.
    await healthy()

    const results: Awaited<ReturnType<Bench>> = []
    for (const [i, [kind, abuse]] of Object.entries(ABUSES).entries()) {
      if (only !== ALL && i + 1 !== only) continue
      const token = abuse.isAnonymous ? [] : [abuser]
      const abused = async () => {
        const load = await startAbuse(product.url, kind, connections, ...token)
        const p99 = await healthy()
        const answers = await load.stop()
        const wrong = Object.keys(answers).filter((answer) => !abuse.answers.includes(answer))
        const total = Object.values(answers).reduce((sum, count) => sum + count, 0)
        if (wrong.length > 0 || total === 0)
          throw new Error(`${kind}: expected only ${abuse.answers.join(', ')}, got ${JSON.stringify(answers)}`)
        print(`${kind}: ${JSON.stringify(answers)}`)
        return p99
      }
      const samples = await interleave(abused, healthy, rounds, print)
      // Allowed requests share the API; their cost is printed without a goal.
      if (!abuse.isAllowed)
        results.push({ comparison: { what: `p99_with_${kind}`, unit: 'ms', kind: 'cost', goal: 1.5 }, samples })
    }
    return results
  } finally {
    await product.stop()
  }
}

async function startAbuse(...args: (string | number)[]) {
  // Pinned to one core, so the scheduler moves it less between the measured processes.
  const last = String(availableParallelism() - 1)
  const child = spawn('taskset', ['-c', last, process.execPath, LOAD, ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('the abusive client ended early')
    return value
  }
  await next()
  return {
    async stop() {
      child.stdin.end()
      const answers = JSON.parse(await next()) as Record<string, number>
      if (child.exitCode === null) await once(child, 'exit')
      return answers
    },
  }
}
