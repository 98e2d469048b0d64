import { pretendAgent, pretendAlert, pretendFleet, pretendTokens, routes, silences } from './agents.ts'
import { accelerators, type PretendNode, pretendNode } from './nodes.ts'
import { logEvents, pretendRun } from './runs.ts'

type Send = (value: unknown) => Promise<void>
type Arguments = Record<string, unknown>
export type World = {
  root: Record<string, unknown>
  streams: Record<string, (variables: Arguments, send: Send) => Promise<void> | void>
  failing: string | null
  isLogOver: boolean
}
export type Wishes = {
  nodes?: number
  runs?: number
  lines?: number
  failing?: string
  signedIn?: boolean
  runStatus?: string
  lab?: boolean
  /** Whether nodes have agents. */
  agents?: boolean
}

type PageArguments = {
  first?: number
  after?: string
  filter?: { text?: string; status?: string[]; hostlist?: string; hasAgentAlarm?: boolean }
}
function connection<T extends { id: string }>(all: T[], { first = 100, after }: PageArguments) {
  const start = after ? all.findIndex((each) => each.id === after) + 1 : 0
  const page = all.slice(start, start + first)
  return {
    totalCount: all.length,
    edges: page.map((node) => ({ cursor: node.id, node })),
    pageInfo: {
      hasNextPage: start + first < all.length,
      hasPreviousPage: start > 0,
      startCursor: page[0]?.id ?? null,
      endCursor: page.at(-1)?.id ?? null,
    },
  }
}

const template = {
  __typename: 'JobTemplate',
  id: 'T1',
  name: 'collect_facts',
  displayName: 'Collect facts',
  category: 'inventory',
  become: true,
  becomeMethod: 'SUDO',
  becomeUser: 'root',
  description: 'Look inside every node: system, CPU, memory, disks, networks, accelerators.',
  playbookPath: 'collect-facts.yml',
  timeoutSeconds: 900,
  forks: 50,
  defaultVars: {},
  tags: [],
  isSystem: true,
  isIdempotent: true,
  inputSchema: null as object | null,
  serial: null,
  maxFailPercentage: null,
  jobTags: [],
  skipTags: [],
}
const templates = [
  template,
  {
    ...template,
    id: 'T2',
    name: 'connectivity_check',
    displayName: 'Connectivity check',
    become: false,
    description: 'Sign in, find Python, become root: can everything be reached?',
  },
  {
    ...template,
    id: 'T3',
    name: 'install_driver',
    displayName: 'Install driver',
    description: 'The driver of a branch, with or without the toolkit.',
    inputSchema: {
      type: 'object',
      required: ['licence'],
      properties: {
        driver_version: { type: 'string', title: 'Branch', description: 'Branch of the driver.', examples: ['535'] },
        module: { enum: ['open', 'closed'], description: 'Flavour of the kernel modules.', default: 'open' },
        install_toolkit: { type: 'boolean', description: 'Install the toolkit as well.', examples: [true] },
        toolkit_version: { type: 'string', description: 'Its version.', 'x-show-if': { install_toolkit: true } },
        port: { type: 'integer', minimum: 1, maximum: 65_535, description: 'The port of its exporter.', examples: [9400] },
        licence: { type: 'string', 'x-secret': true, description: 'The key of the licence.' },
        repositories: { type: 'array', items: { type: 'string' }, description: 'Where packages come from.' },
      },
    },
  },
]

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
const credentials = [
  {
    __typename: 'Credential',
    id: 'C1',
    name: 'fleet key',
    kind: 'SSH_KEY',
    description: 'Ed25519, rotated every quarter',
    username: 'ansible',
    becomeMethod: null,
    host: null,
    port: null,
    via: null,
    publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq1vM0m2nVJbq3Xx6fT1m2YdL5b0rYw2mYb1pQm3xqz fleet',
    hostKeyFingerprint: null,
    hostKeyApprovedAt: null,
    offeredHostKeyFingerprint: null,
    secretsSet: ['privateKey', 'passphrase'],
    nodeCount: 212,
    lastUsedAt: ago(40),
    createdAt: ago(9e6),
    updatedAt: ago(9e5),
  },
  {
    __typename: 'Credential',
    id: 'C2',
    name: 'dmz bastion',
    kind: 'BASTION',
    description: '',
    username: 'jump',
    becomeMethod: null,
    host: 'bastion.dmz.example',
    port: 2222,
    via: null,
    publicKey: null,
    hostKeyFingerprint: 'SHA256:JmPq0aS9vTz4xQnE2yLr8dUkWc1bHf6oGi5tXv7sNeM',
    hostKeyApprovedAt: ago(9e5),
    offeredHostKeyFingerprint: 'SHA256:9dUkWc1bHf6oGi5tXv7sNeMJmPq0aS9vTz4xQnE2yLr',
    secretsSet: ['password'],
    nodeCount: 12,
    lastUsedAt: ago(4000),
    createdAt: ago(9e6),
    updatedAt: ago(9e5),
  },
  {
    __typename: 'Credential',
    id: 'C3',
    name: 'root password',
    kind: 'BECOME',
    description: '',
    username: 'root',
    becomeMethod: 'SUDO',
    host: null,
    port: null,
    via: null,
    publicKey: null,
    hostKeyFingerprint: null,
    hostKeyApprovedAt: null,
    offeredHostKeyFingerprint: null,
    secretsSet: ['password'],
    nodeCount: 0,
    lastUsedAt: null,
    createdAt: ago(9e6),
    updatedAt: ago(9e5),
  },
]
const tokens = [
  {
    __typename: 'ApiToken',
    id: 'K1',
    name: 'nightly inventory export',
    role: 'VIEWER',
    prefix: 'mst_9fQ2',
    createdAt: ago(8e6),
    lastUsedAt: ago(3000),
    expiresAt: ago(-6e6),
    revokedAt: null,
  },
  {
    __typename: 'ApiToken',
    id: 'K2',
    name: 'old pipeline',
    role: 'OPERATOR',
    prefix: 'mst_71Za',
    createdAt: ago(3e7),
    lastUsedAt: ago(2e7),
    expiresAt: null,
    revokedAt: ago(1e7),
  },
]
const stage = (name: string, state = 'OK', more = {}) => ({
  stage: name,
  hop: null,
  state,
  durationMs: 12,
  detail: null,
  hint: null,
  offeredKey: null,
  ...more,
})
function preflight(node: PretendNode, index: number) {
  const through = ['RESOLVE', 'TCP', 'BANNER'].map((name) =>
    stage(name, 'OK', { detail: name === 'BANNER' ? 'SSH-2.0-OpenSSH_10.0p2' : null }),
  )
  const key = (isChanged: boolean) =>
    stage('HOST_KEY', 'FAILED', {
      detail: 'The host offers a key that nobody has approved.',
      hint: 'Compare the fingerprint and approve it.',
      offeredKey: {
        objectId: node.id,
        fingerprint: 'SHA256:vTz4xQnE2yLr8dUkWc1bHf6oGi5tXv7sNeMJmPq0aS9',
        key: 'ssh-ed25519 AAAA',
        isChanged,
      },
    })
  const rest = ['HOST_KEY', 'AUTHENTICATION', 'SHELL', 'SUDO', 'PYTHON', 'ANSIBLE'].map((name) => stage(name))
  const stages =
    index === 1
      ? [...through, key(false)]
      : index === 2
        ? [
            ...through,
            stage('HOST_KEY'),
            stage('AUTHENTICATION', 'FAILED', {
              detail: 'The node refused the key of user ansible.',
              hint: 'Check that the public key is in authorized_keys of ansible on the node.',
            }),
          ]
        : index === 3
          ? through
          : [...through, ...rest]
  return {
    __typename: 'ConnectionTest',
    id: `P${index}`,
    node,
    isOk: index === 3 ? null : index === 0 || index > 3,
    error: null,
    createdAt: ago(3),
    startedAt: ago(3),
    finishedAt: index === 3 ? null : ago(1),
    stages,
  }
}

/** A room of machines to show: as many nodes, runs and log lines as wished, or nothing at all, or a broken server. */
export function pretendWorld({
  nodes: nodeCount = 12,
  runs: runCount = 8,
  lines = 400,
  failing,
  signedIn = true,
  runStatus = 'RUNNING',
  lab = false,
  agents = true,
}: Wishes = {}): World {
  const nodes = Array.from({ length: nodeCount }, (_, index) => {
    const node = pretendNode(index)
    // Made when it is asked for: ten thousand have three million points of history.
    return { ...node, agent: () => (agents && index % 4 !== 3 ? pretendAgent(node, index) : null) }
  })
  const runs = Array.from({ length: runCount }, (_, index) => pretendRun(index, template, index === 0 ? runStatus : undefined))
  const obstacle = { ownerName: 'Ada Park', hostlist: 'gpu[003-004]', count: 2, acquiredAt: ago(90), run: runs[1] }
  for (const run of runs) if (run.status === 'PENDING') run.waitingFor = [obstacle]
  const alerts = nodes.map(pretendAlert)
  const find = ({ id }: { id: string }) => {
    const node = nodes.find((each) => each.id === id)
    if (node)
      return {
        ...node,
        accelerators: accelerators(node),
        discoveries: (page: PageArguments) => connection(node.allDiscoveries, page),
        runs: (page: PageArguments) => connection(runs, page),
        agent: agents ? pretendAgent(node, nodes.indexOf(node)) : null,
        region: 'eu-north',
        datacenter: 'fi1',
      }
    const alert = alerts.find((each) => each.id === id)
    if (alert) return alert
    return runs.find((each) => each.id === id) ?? null
  }
  const facet = (value: string, count: number) => ({ value, count })
  const root = {
    viewer: signedIn
      ? { kind: 'user', name: 'Ada Park', email: 'ada@rack.example', role: 'OWNER', tenantName: 'default', hasPassword: true }
      : null,
    node: find,
    nodes: ({ filter, ...page }: PageArguments) =>
      connection(
        nodes.filter(
          (node) =>
            (!filter?.text || node.name.includes(filter.text)) &&
            (!filter?.status?.length || filter.status.includes(node.status)) &&
            (!filter?.hasAgentAlarm || (agents && node === nodes[1])),
        ),
        page,
      ),
    nodeFacets: {
      tags: [facet('rack4', 400), facet('inference', 220)],
      statuses: [facet('READY', 9), facet('UNREACHABLE', 2)],
      oses: [facet('ubuntu', 10)],
      arches: [facet('x86_64', 10), facet('aarch64', 2)],
      deviceTypes: [facet('NVIDIA_GPU', 6), facet('AMD_GPU', 3)],
      models: [facet('NVIDIA H100 80GB HBM3', 6)],
      groups: [],
      agentStates: [facet('ACTIVE', 9), facet('STALE', 2)],
      clusters: [facet('training', 5), facet('inference', 4)],
      regions: [facet('eu-north', 9)],
      datacenters: [facet('fi1', 5)],
    },
    computeNode: ({ name }: { name: string }) => nodes.find((node) => node.name === name) ?? null,
    agentFleet: () => pretendFleet(agents ? nodes : []),
    alerts: ({ filter, ...page }: PageArguments & { filter?: { isOpen?: boolean } }) =>
      connection(
        alerts.filter(({ resolvedAt }) => filter?.isOpen === undefined || filter.isOpen === (resolvedAt === null)),
        page,
      ),
    agentEnrolmentTokens: ({ isOver, ...page }: PageArguments & { isOver?: boolean }) =>
      connection(pretendTokens(nodes, isOver ?? false), page),
    agentSettings: {
      heartbeatS: 30,
      staleAfterS: 120,
      offlineAfterS: 300,
      massSilencePercent: 50,
      massSilenceNodes: 10,
      deregisterAfterDays: null,
      changeBlockedReason: null,
    },
    alertSilences: (page: PageArguments) => connection(nodeCount === 0 ? [] : silences, page),
    alertRoutes: (page: PageArguments) => connection(nodeCount === 0 ? [] : routes, page),
    createAgentEnrolmentToken: {
      __typename: 'CreatedAgentEnrolmentToken',
      token: 'mse_9fQ2x7KpLr4VbNc8TzYw1HsDg6JmQe3A',
      prefix: 'mse_9fQ2x7Kp',
      expiresAt: ago(-3600),
    },
    acknowledgeAlerts: ({ ids, note }: { ids: string[]; note: string }) => ({
      __typename: 'AcknowledgedAlerts',
      alerts: alerts
        .filter(({ id }) => ids.includes(id))
        .map((alert) => ({ ...alert, acknowledgedAt: ago(0), acknowledgedByName: 'Ada Park', acknowledgement: note })),
    }),
    credentials: (page: PageArguments) => connection(nodeCount === 0 ? [] : credentials, page),
    apiTokens: (page: PageArguments) => connection(nodeCount === 0 ? [] : tokens, page),
    jobTemplates: (page: PageArguments) => connection(templates, page),
    jobRuns: (page: PageArguments) => connection(runs, page),
    queue: { isPaused: false, pending: 2, running: 1 },
    previewRun: {
      __typename: 'RunPreview',
      hostsTotal: 12,
      hostlist: 'gpu[001-012]',
      command: ['ansible-playbook', '-i', 'inventory.yml', '--forks', '10', 'install_driver.yml'],
      secretVars: ['licence'],
      refusals: [{ reason: 'is in maintenance; end that first', count: 2, hostlist: 'gpu[003-004]' }],
      waitsFor: [obstacle],
    },
    retryJobRun: () => ({ __typename: 'ConflictError', message: 'All its hosts ended well by now.', code: 'CONFLICT' }),
    discoveryDiff: [
      { path: 'accelerators.3', label: 'Accelerator 3 (H100)', kind: 'removed', before: 'GPU-5f1c', after: null },
      { path: 'kernel', label: 'Kernel', kind: 'changed', before: '6.8.0-45-generic', after: '6.8.0-52-generic' },
    ],
    labOffer: lab
      ? {
          credentialsReady: true,
          importInput: { format: 'LIST', text: 'x' },
          nodes: Array.from({ length: 8 }, (_, index) => ({
            name: `lab${index + 1}`,
            host: `10.77.1.${index + 11}`,
            port: 22,
            profile: ['h100x8', 'mi300x8', 'max1550x4'][index % 3],
            behindBastion: index > 5,
            alreadyAdded: false,
          })),
        }
      : null,
    checkNodeImport: {
      __typename: 'NodeImportReport',
      addedCount: 0,
      failedCount: 1,
      rows: [1, 2, 3].map((row) => ({
        row,
        source: `gpu${row}`,
        name: row === 2 ? null : `gpu0${row}`,
        host: row === 2 ? null : `10.1.2.${row}`,
        port: 22,
        state: row === 2 ? 'INVALID' : 'VALID',
        issues: row === 2 ? [{ path: 'host', message: 'A host cannot begin with “-”: write the address alone.' }] : [],
        node: null,
      })),
    },
    importNodes: () => ({
      __typename: 'NodeImportReport',
      addedCount: 5,
      failedCount: 0,
      rows: nodes.slice(0, 5).map((node, index) => ({
        row: index + 1,
        source: node.name,
        name: node.name,
        host: node.host,
        port: 22,
        state: 'ADDED',
        issues: [],
        node,
      })),
    }),
    testConnections: ({ nodeIds }: { nodeIds: string[] }) => ({
      __typename: 'StartedConnectionTests',
      tests: nodeIds.map((id, index) => ({
        ...preflight(nodes.find((node) => node.id === id) as PretendNode, index),
        stages: [],
        isOk: null,
        finishedAt: null,
      })),
    }),
    signIn: { __typename: 'UnauthenticatedError', message: 'E-mail or password is wrong.', code: 'UNAUTHENTICATED' },
    createApiToken: { __typename: 'CreatedApiToken', token: 'mst_9fQ2x7KpLr4VbNc8TzYw1HsDg6JmQe3A', apiToken: tokens[0] },
  }
  const streams: World['streams'] = {
    jobRunEvents: async ({ after }, send) => {
      for (const batch of logEvents(lines, Number(after ?? 0))) await send({ ...batch, run: runs[0] })
    },
    connectionTestUpdated: async ({ ids }, send) => {
      for (const [index, node] of nodes.slice(0, (ids as string[]).length).entries()) await send(preflight(node, index))
    },
    nodeUpdated: () => {},
    heartbeats: () => {},
    alertUpdated: () => {},
    jobRunUpdated: () => {},
    discoveryUpdated: () => {},
  }
  return { root, streams, failing: failing ?? null, isLogOver: runStatus !== 'RUNNING' }
}
