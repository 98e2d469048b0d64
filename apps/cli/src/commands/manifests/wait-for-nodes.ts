import { setTimeout as sleep } from 'node:timers/promises'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { count } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { missingNames } from '../../selector.ts'

/** Nodes that the final message names. */
const SHOWN = 20
/** Pauses between polls in ms. The last one repeats. */
const PAUSES = [250, 500, 1000, 2000]

const STATES =
  graphql(`query AppliedNodes($ready: NodeFilter, $new: NodeFilter, $unreachable: NodeFilter, $out: NodeFilter, $others: NodeFilter, $shown: Int) {
  ready: nodes(filter: $ready) { totalCount }
  new: nodes(filter: $new) { totalCount }
  unreachable: nodes(filter: $unreachable) { totalCount }
  out: nodes(filter: $out) { totalCount }
  others: nodes(filter: $others, first: $shown, orderBy: { field: NAME, direction: ASC }) { edges { node { name status statusReason } } }
}`)
const NAMES = graphql(`query AppliedNodeNames($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) { edges { node { name } } pageInfo { hasNextPage endCursor } }
}`)
type States = ResultOf<typeof STATES>
type Applied = { nodes: string; nodeCount: number }

/**
 * Waits until all nodes of applied manifests are READY, and prints the progress on stderr.
 * @param seconds after which it fails; fails at once when a node was deleted or renamed
 * @throws CliError with the nodes that are not READY and their reasons
 */
export async function waitForNodes({ nodes, nodeCount }: Applied, seconds: number): Promise<void> {
  if (nodeCount === 0) return
  const end = Date.now() + seconds * 1000
  let printed = ''
  for (let poll = 0; ; poll++) {
    const states = await readStates(nodes, Date.now() < end)
    if (states?.ready.totalCount === nodeCount) return void process.stderr.write(`${count(nodeCount, 'node')} READY.\n`)
    const progress = states ? progressOf(states, nodeCount) : 'The server is unreachable; still waiting …'
    if (progress !== printed) process.stderr.write(`${progress}\n`)
    printed = progress
    const hasDeleted = states !== null && goneCount(states, nodeCount) > 0
    if (states && (hasDeleted || Date.now() >= end))
      throw await notReady({ nodes, nodeCount }, states, hasDeleted ? '' : ` after ${count(seconds, 'second')}`)
    await sleep(Math.max(0, Math.min(PAUSES[Math.min(poll, PAUSES.length - 1)]!, end - Date.now())))
  }
}

/** Null: the server is unreachable, which can pass. */
async function readStates(hostlist: string, canRetry: boolean): Promise<States | null> {
  try {
    return await request(STATES, {
      ready: { hostlist, status: ['READY'] },
      new: { hostlist, status: ['NEW'] },
      unreachable: { hostlist, status: ['UNREACHABLE'] },
      out: { hostlist, status: ['MAINTENANCE', 'DECOMMISSIONED'] },
      others: { hostlist, status: ['NEW', 'UNREACHABLE', 'MAINTENANCE', 'DECOMMISSIONED'] },
      shown: SHOWN,
    })
  } catch (error) {
    if (canRetry && error instanceof CliError && error.exitCode === EXIT.unavailable) return null
    throw error
  }
}

const goneCount = ({ ready, new: fresh, unreachable, out }: States, nodeCount: number): number =>
  nodeCount - [ready, fresh, unreachable, out].reduce((sum, { totalCount }) => sum + totalCount, 0)

function progressOf(states: States, nodeCount: number): string {
  const { ready, new: fresh, unreachable, out } = states
  const counts = [
    [fresh.totalCount, 'NEW'],
    [unreachable.totalCount, 'UNREACHABLE'],
    [out.totalCount, 'in maintenance or decommissioned'],
    [goneCount(states, nodeCount), 'deleted or renamed'],
  ] as const
  const rest = counts.flatMap(([n, what]) => (n > 0 ? [`${n} ${what}`] : [])).join(', ')
  return `Waiting for nodes: ${ready.totalCount} of ${nodeCount} READY; ${rest} …`
}

const REASONS: Record<States['others']['edges'][number]['node']['status'], string> = {
  NEW: 'no connection test has succeeded yet',
  UNREACHABLE: 'the last connection failed',
  MAINTENANCE: 'an operator set it',
  DECOMMISSIONED: 'out of service since it was applied',
  READY: '',
}

async function notReady({ nodes, nodeCount }: Applied, states: States, after: string): Promise<CliError> {
  const { ready, others } = states
  const lines = others.edges.map(({ node }) => `${node.name}: ${node.status}: ${node.statusReason ?? REASONS[node.status]}`)
  if (goneCount(states, nodeCount) > 0)
    lines.push(...(await deletedNames(nodes)).map((name) => `${name}: deleted or renamed since it was applied`))
  const shown = lines.slice(0, SHOWN)
  const missing = nodeCount - ready.totalCount
  return new CliError(
    [
      `${missing} of ${count(nodeCount, 'node')} not READY${after}:`,
      ...shown.map((line) => `  ${line}`),
      ...(missing > shown.length ? [`  … and ${missing - shown.length} more`] : []),
      'The manifests are applied. Test nodes with `muster node test`, and wait again with the same command.',
    ].join('\n'),
  )
}

async function deletedNames(hostlist: string): Promise<string[]> {
  const found = await fetchAll(async (page) => (await request(NAMES, { filter: { hostlist }, ...page })).nodes)
  const { plain, ranged } = missingNames(hostlist, new Set(found.map(({ name }) => name)))
  return [...plain, ...ranged]
}
