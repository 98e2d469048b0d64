import type { PretendNode } from './nodes.ts'

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
const places = [
  { cluster: 'training', region: 'eu-north', datacenter: 'fi1' },
  { cluster: 'inference', region: 'eu-north', datacenter: 'fi2' },
  { cluster: 'lab', region: 'us-east', datacenter: 'va1' },
] as const

export function stateOf(index: number) {
  if (index % 97 === 13) return 'OFFLINE'
  if (index % 41 === 5) return 'STALE'
  if (index % 61 === 9) return 'DRAINING'
  if (index % 83 === 11) return 'DRAINED'
  return index % 211 === 3 ? 'PENDING' : 'ACTIVE'
}

const key = (id: string, more: object = {}) => ({
  __typename: 'AgentKey',
  id,
  status: 'ALLOWED',
  fingerprint: 'SHA256:JmPq0aS9vTz4xQnE2yLr8dUkWc1bHf6oGi5tXv7sNeM',
  publicKey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  note: '',
  seenFrom: '10.1.0.3',
  createdAt: ago(9e5),
  createdByName: 'agent of gpu001',
  approvedAt: ago(9e5),
  approvedByName: 'enrolment token',
  revokedAt: null,
  revokedByName: null,
  revokedReason: null,
  revokeBlockedReason: null,
  ...more,
})
const check = (name: string, isOk: boolean | null, text: string) => ({ check: name, isOk, text })

/** The agent of a node; every second is not quite as it should be. */
export function pretendAgent(node: PretendNode, index: number) {
  const isOdd = index % 2 === 1
  const state = stateOf(index)
  const keys = [
    key(`${node.id}K1`),
    key(`${node.id}K0`, {
      status: 'REVOKED',
      revokedAt: ago(9e5),
      revokedByName: 'Ada Park',
      revokedReason: 'the disk was replaced',
      revokeBlockedReason: 'The key is already revoked.',
      createdAt: ago(9e6),
    }),
  ]
  if (isOdd)
    keys.unshift(key(`${node.id}K2`, { status: 'WAITING', seenFrom: '10.1.0.77', createdAt: ago(300), approvedAt: null }))
  return {
    __typename: 'Agent',
    agentId: node.name,
    cluster: places[index % 3]?.cluster,
    state,
    stateSince: ago(5000),
    stateReason: 'HEARD_AGAIN',
    version: '0.1.0',
    registeredAt: ago(9e5),
    seenFrom: '10.1.0.3',
    fingerprint: '7f0c9a4be1',
    offeredFingerprint: isOdd ? 'b41d22c09e' : null,
    heldAt: null,
    drainRequestedAt: null,
    drainRequestedByName: null,
    drainReason: null,
    drainBlockedReason: null,
    resumeBlockedReason: `Nobody asked for the agent ${node.name} to be drained; it is ${state}.`,
    deregisterBlockedReason: null,
    resetSequenceBlockedReason: null,
    approveBlockedReason: isOdd ? null : `Nothing of the agent ${node.name} waits for approval.`,
    lastHeartbeat: {
      heardAt: ago(12),
      skewMs: isOdd ? 42_000 : 31,
      bootEpoch: 17,
      sequence: 41_233,
      accepted: 41_190,
      missed: isOdd ? 43 : 0,
      health: 'healthy',
      slurmState: 'mixed',
      runningJobs: 3,
      cpuPercent: 41.2,
      memoryPercent: 63.9,
    },
    trust: [
      isOdd
        ? check(
            'KEY',
            false,
            'Another machine beats with its key, too; its alert says which. Stop that one and enrol it with a key of its own; if you do not know it, revoke the key and enrol this node anew.',
          )
        : check('KEY', true, 'Its key SHA256:JmPq0aS9vTz4xQnE2yLr8dUkWc1bHf6oGi5tXv7sNeM is allowed.'),
      check('SIGNATURE', true, 'All 41190 heartbeats that were accepted bear the signature of its key.'),
      isOdd
        ? check('HARDWARE', false, 'It shows the fingerprint of another machine; approve the change if the machine was replaced.')
        : check('HARDWARE', null, 'It tells no fingerprint of its hardware.'),
      check('CLOCK', !isOdd, isOdd ? 'Its clock is 42.0 s ahead of ours.' : 'Its clock is 0.0 s ahead of ours.'),
      check('SEQUENCE', !isOdd, isOdd ? '43 of 41233 heartbeats never came; look at its network.' : 'No heartbeat is missing.'),
    ],
    key: keys.at(-2),
    keys,
    report: {
      node_id: node.name,
      sequence_number: 41_233,
      capacity: { cpu_cores_total: 192, gpus_total: 8 },
      health: { status: 'healthy', load_average_1m: '81.20' },
    },
    transitions: [
      {
        from: 'STALE',
        to: 'ACTIVE',
        reason: 'HEARD_AGAIN',
        evidence: { silentS: 0.004, heardAt: ago(5000), bootEpoch: 17, sequence: 41_100 },
        at: ago(5000),
      },
      {
        from: 'ACTIVE',
        to: 'STALE',
        reason: 'MISSED',
        evidence: { silentS: 121.004, heardAt: ago(5221), bootEpoch: 17, sequence: 41_099, runningJobs: 3 },
        at: ago(5100),
      },
      { from: 'PENDING', to: 'ACTIVE', reason: 'FIRST_HEARTBEAT', evidence: { sequence: 1, coldStartMs: 12 }, at: ago(9e5) },
      { from: null, to: 'PENDING', reason: 'REGISTERED', evidence: { seenFrom: '10.1.0.3' }, at: ago(900_010) },
    ],
    history: Array.from({ length: 288 }, (_, step) => step)
      .filter((step) => step < 180 || step > 186)
      .map((step) => ({
        at: ago((288 - step) * 300),
        beats: 10,
        missed: isOdd && step % 40 === 7 ? 2 : 0,
        cpuPercent: 50 + 40 * Math.sin(step / 20),
        memoryPercent: 60 + 10 * Math.cos(step / 33),
        maxSkewMs: isOdd ? 20_000 + step * 76 : 20 + (step % 9),
      })),
  }
}

/** The whole fleet, as long as the room has nodes. */
export function pretendFleet(nodes: PretendNode[]) {
  const clusters = places.map((place, at) => {
    const mine = nodes.map((node, index) => ({ node, index })).filter(({ index }) => index % 3 === at)
    return {
      ...place,
      heldCount: 0,
      counts: [],
      names: mine.map(({ node }) => node.name),
      states: mine.map(({ index }) => stateOf(index)),
      cpu: mine.map(({ index }) => (stateOf(index) === 'OFFLINE' ? null : (index * 37) % 101)),
      memory: mine.map(({ index }) => (stateOf(index) === 'OFFLINE' ? null : (index * 53) % 101)),
    }
  })
  return { counts: [], heldCount: 0, clusters: clusters.filter(({ names }) => names.length > 0) }
}

const kinds = [
  ['OFFLINE', 'CRITICAL', 'is offline'],
  ['STALE', 'WARNING', 'has missed its heartbeats'],
  ['SEQUENCE_GAP', 'WARNING', 'has sent heartbeats that did not arrive'],
  ['RECOVERED', 'INFO', 'is heard again'],
  ['ACCELERATOR_LOST', 'CRITICAL', 'has lost an accelerator'],
] as const

export function pretendAlert(node: PretendNode, index: number) {
  const [kind, severity, says] = kinds[index % kinds.length] ?? kinds[0]
  return {
    __typename: 'Alert',
    id: `A${index}`,
    kind,
    severity,
    node,
    cluster: null,
    text: `${node.name} ${says}`,
    evidence: { heardAt: ago(400), silentS: 301, sequence: 41_233 },
    openedAt: ago(400 + index * 60),
    lastAt: ago(40 + index * 60),
    count: 1 + (index % 5),
    resolvedAt: index % 6 === 5 ? ago(20) : null,
    acknowledgedAt: index % 6 === 2 ? ago(100) : null,
    acknowledgedByName: index % 6 === 2 ? 'Ada Park' : null,
    acknowledgement: index % 6 === 2 ? 'The rack is being moved.' : null,
    acknowledgeBlockedReason: null,
    endBlockedReason: kind === 'ACCELERATOR_LOST' ? null : 'The alert ends by itself when what it tells of is over.',
  }
}

const token = (id: string, state: string, more: object = {}) => ({
  __typename: 'AgentEnrolmentToken',
  id,
  prefix: `mse_9fQ2x7K${id}`,
  state,
  note: '',
  node: null,
  createdAt: ago(3000),
  createdByName: 'Ada Park',
  expiresAt: ago(-3600),
  usedAt: null,
  usedFrom: null,
  usedByNode: null,
  revokedAt: null,
  revokedByName: null,
  revokeBlockedReason: state === 'USABLE' ? null : 'It is over already.',
  ...more,
})

/** Enrolment tokens: four that tell of each fate, and as many more of the last kind as wished. */
export function pretendTokens(nodes: PretendNode[], isOver: boolean) {
  const [node] = nodes
  const usable = [
    token('a', 'USABLE', { note: 'for the new rack, by the window', node: node ?? null }),
    ...nodes.slice(1, 200).map((_, index) => token(`b${index}`, 'USABLE')),
  ]
  const over = [
    token('c', 'USED', { usedAt: ago(2000), usedFrom: '10.1.0.3', usedByNode: node ?? null }),
    token('d', 'EXPIRED', { expiresAt: ago(60) }),
    token('e', 'REVOKED', { revokedAt: ago(500), revokedByName: 'Ada Park' }),
  ]
  return nodes.length === 0 ? [] : isOver ? [...over, ...usable] : usable
}

const matcher = { kinds: ['STALE', 'OFFLINE'], severities: [], query: 'tag = rack4', clusters: [] }
export const silences = [
  {
    __typename: 'AlertSilence',
    id: 'S1',
    matcher,
    reason: 'The rack is being moved',
    startsAt: ago(600),
    endsAt: ago(-9000),
    createdByName: 'Ada Park',
    endBlockedReason: null,
  },
]
const route = {
  __typename: 'AlertRoute',
  id: 'R1',
  name: 'on call',
  kind: 'WEBHOOK',
  origin: 'https://hooks.rack.example',
  host: null,
  port: null,
  security: null,
  username: null,
  from: null,
  to: [] as string[],
  hasSecret: true,
  isEnabled: true,
  tellsResolved: true,
  failingSince: null as string | null,
  lastError: null as string | null,
  writeBlockedReason: null,
  matcher: { kinds: [], severities: ['CRITICAL', 'WARNING'], query: null, clusters: [] },
}
export const routes = [
  route,
  {
    ...route,
    id: 'R2',
    name: 'the room',
    kind: 'EMAIL',
    origin: null,
    host: 'mail.rack.example',
    port: 587,
    security: 'STARTTLS',
    from: 'muster@rack.example',
    to: ['room@rack.example'],
    failingSince: ago(3000),
    lastError: 'mail.rack.example refused the receiver room@rack.example: 550 no such mailbox.',
    matcher: { kinds: [], severities: [], query: null, clusters: [] },
  },
]
