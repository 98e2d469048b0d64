import type { SlurmNodeCheck } from '@muster/core/slurm-operations'
import type { ConfigNode } from '@muster/slurm/config'
import { type OperationContext, OperationFailure } from '../operation.ts'
import { evaluateReadiness } from './evaluate.ts'
import { readinessScript } from './script.ts'

const TIMEOUT_MS = 60_000
const MAX_BYTES = 256 * 1024
const AT_ONCE = 16

type Node = ConfigNode & { nodeId: string }
type Cluster = { controllers: { name: string; address: string }[]; release: string | null }

/** Checks all nodes over SSH. @returns the findings by name; a node that cannot be asked has one */
export async function checkNodes(op: OperationContext, nodes: Node[], cluster: Cluster): Promise<Map<string, SlurmNodeCheck[]>> {
  const found = new Map<string, SlurmNodeCheck[]>()
  const resolved = cluster.controllers.length > 0 ? await resolvedNames(op, nodes) : null
  const open = [...nodes]
  const work = async () => {
    for (let node = open.shift(); node; node = open.shift()) found.set(node.name, await checkNode(op, node, cluster, resolved))
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, nodes.length) }, work))
  return found
}

async function checkNode(
  op: OperationContext,
  node: Node,
  { controllers, release }: Cluster,
  resolved: ReadonlySet<string> | null,
): Promise<SlurmNodeCheck[]> {
  const files = [...new Set(node.gres.flatMap((gres) => gres.files))]
  try {
    return await op.onNode(node.nodeId, async ({ session }) => {
      const options = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal: op.signal }
      const ran = await session.exec('sh -s', { stdin: readinessScript({ controllers, files }), ...options })
      return evaluateReadiness(ran.stdout.toString('utf8'), {
        controllers,
        files,
        config: node,
        release,
        installsPackages: !op.cluster.install?.prefix,
        isResolvedByController: resolved?.has(node.name) ?? null,
        now: Date.now() / 1000,
      })
    })
  } catch (error) {
    op.signal.throwIfAborted()
    if (!(error instanceof OperationFailure)) throw error
    return [{ name: 'reachable', state: 'FAILED', message: error.message }]
  }
}

/** The names that the controller resolves. */
async function resolvedNames(op: OperationContext, nodes: Node[]): Promise<Set<string>> {
  const names = nodes.map(({ name }) => name)
  const output = await op.slurm(async ({ session, signal }) => {
    const script = names.map((name) => `getent hosts '${name}' >/dev/null && echo '${name}'\n`).join('')
    const ran = await session.exec('sh -s', { stdin: script, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal })
    return ran.stdout.toString('utf8')
  })
  return new Set(output.split('\n').filter((line) => names.includes(line)))
}

/** Checks nodes, and marks those that cannot join as failed. @throws OperationFailure no node can */
export async function checkReadiness(op: OperationContext, nodes: Node[], cluster: Cluster): Promise<void> {
  const found = await checkNodes(op, nodes, cluster)
  await op.updateNodes(
    nodes.map(({ name }) => {
      const checks = found.get(name)!
      const failed = checks.filter(({ state }) => state === 'FAILED')
      const message = failed.map(({ name, message }) => `${name}: ${message}`).join('. ')
      return { name, phase: 'CHECKED', checks, isFailed: failed.length > 0, message: message || null }
    }),
  )
  assertSomeLeft(op)
}

/** @throws OperationFailure every node failed */
export function assertSomeLeft({ nodes }: Pick<OperationContext, 'nodes'>): void {
  if (nodes.every(({ isFailed }) => isFailed))
    throw new OperationFailure(`No node is left. ${nodes[0] ? `${nodes[0].name}: ${nodes[0].message}` : ''}`)
}
