import type { Lab } from '@muster/lab'
import type { Client } from './client.ts'
import { CREATE_NODE_GROUP, EFFECTIVE_VARS, RETRY_RUN, RUN_ARTIFACTS, SET_VARS } from './documents.ts'
import { exporterRepository } from './exporter-repository.ts'
import { followRun, readRun, runJob } from './onboard.ts'

/** Figures of the second part of the main job; see `isExpected`. */
export type LayeredFigures = {
  /** Values of one variable on one node with layer and group, highest precedence first. */
  layers: string[]
  /** Hosts that the first and the second deployment changed. */
  deployed: number
  redeployed: number
  oneFailing: string
  retried: string
  retriedHosts: number
  /** Lines of the downloaded log. */
  artifactLines: number
}

const TEMPLATE = 'deploy_node_exporter'

/**
 * Sets a port for all nodes, for nodes with accelerators and for one node, reads the effective value with its origin, deploys twice,
 * makes one node fail, corrects it, retries the failed host, and downloads the log.
 */
export async function layeredJob(
  api: Client,
  lab: Lab,
  ids: Map<string, string>,
  print: (text: string) => void,
): Promise<LayeredFigures> {
  const repository = await exporterRepository(lab)
  const setVars = createEditor(api)
  try {
    // Nodes behind the bastion cannot reach the repository.
    const direct = lab.nodes.filter((node) => !node.behindBastion).map((node) => node.name)
    const special = lab.nodes.find((node) => !node.behindBastion && node.profile !== 'cpu')!.name
    await setVars({}, `node_exporter_repository_url: ${repository.url}\nnode_exporter_port: 9100\n`)
    const { nodeGroup } = await api.mutate(CREATE_NODE_GROUP, {
      input: { name: 'accelerated', memberQuery: 'accelerator.count > 0' },
    })
    await setVars({ groupId: nodeGroup.id }, 'node_exporter_port: 9101 # a comment that must be kept\n')
    const nodeId = ids.get(special)!
    await setVars({ nodeId }, 'node_exporter_port: 9102\n')
    const layers = await explain(api, nodeId, 'node_exporter_port')
    print(`node_exporter_port on ${special}: ${layers.join(', ')}`)

    const limit = direct.join(',')
    const first = await run(api, limit)
    const second = await run(api, limit)
    print(`${TEMPLATE}: ${first.changed} hosts changed, then ${second.changed}`)
    if (first.status !== 'SUCCEEDED' || second.status !== 'SUCCEEDED')
      print(`the deployments ended with ${first.status} and ${second.status}`)

    await setVars({ nodeId }, `node_exporter_repository_url: ${repository.url}/nowhere\n`)
    const failing = await run(api, limit)
    await setVars({ nodeId }, 'node_exporter_port: 9102\n')
    const { run: retry } = await api.mutate(RETRY_RUN, { input: { id: failing.id, hosts: ['FAILED'] } })
    const retried = await waitForEnd(api, retry.id)
    print(`wrong repository on ${special}: ${failing.status}; after the correction, retry: ${retried.status}`)
    return {
      layers,
      deployed: first.changed,
      redeployed: second.changed,
      oneFailing: failing.status,
      retried: retried.status,
      retriedHosts: retried.hostCount,
      artifactLines: await downloadLog(api, retry.id),
    }
  } finally {
    await repository.close()
  }
}

export function isExpected(figures: LayeredFigures, lab: Lab): boolean {
  return (
    JSON.stringify(figures.layers) === JSON.stringify(['NODE 9102', 'GROUP accelerated 9101', 'GLOBAL 9100']) &&
    figures.deployed === lab.nodes.filter((node) => !node.behindBastion).length &&
    figures.redeployed === 0 &&
    figures.oneFailing === 'PARTIAL' &&
    figures.retried === 'SUCCEEDED' &&
    figures.retriedHosts === 1 &&
    figures.artifactLines > 10
  )
}

type Scope = { groupId?: string; nodeId?: string }

/** Returns a function that replaces the variables of a scope and remembers its version. */
function createEditor(api: Client) {
  const versions = new Map<string, number>()
  return async (scope: Scope, text: string): Promise<void> => {
    const key = JSON.stringify(scope)
    const { variableScope } = await api.mutate(SET_VARS, { input: { ...scope, basedOn: versions.get(key) ?? 0, text } })
    versions.set(key, variableScope.version)
  }
}

/** Values of a variable on a node, highest precedence first: `LAYER value` or `GROUP name value`. */
async function explain(api: Client, nodeId: string, name: string): Promise<string[]> {
  const { node } = await api.request(EFFECTIVE_VARS, { id: nodeId, names: [name] })
  if (node?.__typename !== 'ComputeNode') throw new Error(`There is no node ${nodeId}`)
  return node.effectiveVars
    .flatMap(({ overridden, ...effective }) => [effective, ...overridden])
    .map(({ layer, group, value }) => [layer, ...(group ? [group] : []), value.json].join(' '))
}

type EndedRun = { id: string; status: string; hostCount: number; changed: number }

async function run(api: Client, limit: string): Promise<EndedRun> {
  return waitForEnd(api, await runJob(api, { template: TEMPLATE, limit }))
}

async function waitForEnd(api: Client, id: string): Promise<EndedRun> {
  for await (const batch of followRun(api, id, 0)) void batch
  const { status, hostCounts, hostSummary } = await readRun(api, id)
  return { id, status, hostCount: hostCounts.total, changed: hostSummary.find(({ result }) => result === 'CHANGED')?.count ?? 0 }
}

/** Downloads the log artifact of a run. @returns its number of lines; 0 when it is missing or incomplete */
async function downloadLog(api: Client, id: string): Promise<number> {
  const { node } = await api.request(RUN_ARTIFACTS, { id })
  if (node?.__typename !== 'JobRun') throw new Error(`There is no run ${id}`)
  const url = node.artifacts.find((artifact) => artifact.kind === 'LOG')?.downloadUrl
  const text = url ? await fetch(url).then((response) => (response.ok ? response.text() : '')) : ''
  return text.includes('PLAY RECAP') ? text.split('\n').length : 0
}
