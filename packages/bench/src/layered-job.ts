import type { Lab } from '@muster/lab'
import type { Client } from './client.ts'
import { exporterRepository } from './exporter-repository.ts'
import { ERROR, followRun, runJob } from './onboard.ts'

/** What the second part of the main job came to; see `isRight`. */
export type LayeredFigures = {
  /** Values of one variable on one node, nearest first, by the layer and group that they come from. */
  layers: string[]
  /** Hosts that the two deployments changed. */
  deployed: number
  redeployed: number
  oneFailing: string
  retried: string
  retriedHosts: number
  /** Lines of the log that was downloaded. */
  artifactLines: number
}

const TEMPLATE = 'deploy_node_exporter'

/**
 * Variables in layers and a deployment that follows them: set a port for all nodes, for those with accelerators and for one; say why
 * it is what it is; deploy twice; let one node fail, put it right, retry what failed; download the log.
 */
export async function layeredJob(
  api: Client,
  lab: Lab,
  ids: Map<string, string>,
  say: (text: string) => void,
): Promise<LayeredFigures> {
  const repository = await exporterRepository(lab)
  const setVars = editor(api)
  try {
    // Nodes behind the bastion do not reach the repository.
    const direct = lab.nodes.filter((node) => !node.behindBastion).map((node) => node.name)
    const special = lab.nodes.find((node) => !node.behindBastion && node.profile !== 'cpu')!.name
    await setVars({}, `node_exporter_repository_url: ${repository.url}\nnode_exporter_port: 9100\n`)
    const {
      nodeGroup: { id: groupId },
    } = await api.mutate<{ nodeGroup: { id: string } }>(
      `mutation { createNodeGroup(input: { name: "accelerated", memberQuery: "accelerator.count > 0" }) { __typename ... on CreateNodeGroupPayload { nodeGroup { id } } ${ERROR} } }`,
    )
    await setVars({ groupId }, 'node_exporter_port: 9101 # beside the exporters of the vendors\n')
    const nodeId = ids.get(special)!
    await setVars({ nodeId }, 'node_exporter_port: 9102\n')
    const layers = await explain(api, nodeId, 'node_exporter_port')
    say(`node_exporter_port on ${special}: ${layers.join(', ')}`)

    const limit = direct.join(',')
    const first = await run(api, limit)
    const second = await run(api, limit)
    say(`${TEMPLATE}: ${first.changed} hosts changed, then ${second.changed}`)
    if (first.status !== 'SUCCEEDED' || second.status !== 'SUCCEEDED') say(`ended as ${first.status} and ${second.status}`)

    await setVars({ nodeId }, `node_exporter_repository_url: ${repository.url}/nowhere\n`)
    const failing = await run(api, limit)
    await setVars({ nodeId }, 'node_exporter_port: 9102\n')
    const retry = await api.mutate<{ run: { id: string } }>(
      `mutation ($id: ID!) { retryJobRun(input: { id: $id, which: FAILED }) { __typename ... on RetryJobRunPayload { run { id } } ${ERROR} } }`,
      { id: failing.id },
    )
    const retried = await ended(api, retry.run.id)
    say(`with a wrong repository on ${special} ${failing.status}; put right and retried ${retried.status}`)
    return {
      layers,
      deployed: first.changed,
      redeployed: second.changed,
      oneFailing: failing.status,
      retried: retried.status,
      retriedHosts: retried.hostsTotal,
      artifactLines: await downloadLog(api, retry.run.id),
    }
  } finally {
    await repository.close()
  }
}

export function isRight(figures: LayeredFigures, lab: Lab): boolean {
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

/** Sets the variables of scopes that nobody else changes. */
function editor(api: Client) {
  const versions = new Map<string, number>()
  return async (scope: Scope, text: string): Promise<void> => {
    const key = JSON.stringify(scope)
    const { variableScope } = await api.mutate<{ variableScope: { version: number } }>(
      `mutation ($input: SetVarsInput!) { setVars(input: $input) { __typename ... on SetVarsPayload { variableScope { version } } ${ERROR} } }`,
      { input: { ...scope, basedOn: versions.get(key) ?? 0, text } },
    )
    versions.set(key, variableScope.version)
  }
}

/** What a variable is on a node, nearest first: `LAYER value`, or `GROUP name value`. */
async function explain(api: Client, nodeId: string, name: string): Promise<string[]> {
  type Entry = { layer: string; group: string | null; value: unknown }
  const { node } = await api.request<{ node: { effectiveVars: (Entry & { overridden: Entry[] })[] } }>(
    `query ($id: ID!, $names: [String!]) { node(id: $id) { ... on ComputeNode {
      effectiveVars(names: $names) { layer group value overridden { layer group value } } } } }`,
    { id: nodeId, names: [name] },
  )
  return node.effectiveVars
    .flatMap(({ overridden, ...nearest }) => [nearest, ...overridden])
    .map(({ layer, group, value }) => [layer, ...(group ? [group] : []), value].join(' '))
}

type Ended = { id: string; status: string; hostsTotal: number; changed: number }

async function run(api: Client, limit: string): Promise<Ended> {
  return ended(api, await runJob(api, { template: TEMPLATE, limit }))
}

async function ended(api: Client, id: string): Promise<Ended> {
  for await (const batch of followRun(api, id, 0)) void batch
  const { node } = await api.request<{
    node: { status: string; hostsTotal: number; hostSummary: { result: string; count: number }[] }
  }>('query ($id: ID!) { node(id: $id) { ... on JobRun { status hostsTotal hostSummary { result count } } } }', { id })
  const changed = node.hostSummary.find((summary) => summary.result === 'CHANGED')?.count ?? 0
  return { id, status: node.status, hostsTotal: node.hostsTotal, changed }
}

/** Download what was kept of a run's log. @returns how many lines it has; 0 when it is not that log */
async function downloadLog(api: Client, id: string): Promise<number> {
  const { node } = await api.request<{ node: { artifacts: { kind: string; downloadUrl: string | null }[] } }>(
    'query ($id: ID!) { node(id: $id) { ... on JobRun { artifacts { kind downloadUrl } } } }',
    { id },
  )
  const url = node.artifacts.find((artifact) => artifact.kind === 'LOG')?.downloadUrl
  const text = url ? await fetch(url).then((response) => (response.ok ? response.text() : '')) : ''
  return text.includes('PLAY RECAP') ? text.split('\n').length : 0
}
