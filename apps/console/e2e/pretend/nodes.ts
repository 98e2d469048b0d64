const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
const GiB = 1024 ** 3
const kinds = [
  {
    deviceType: 'NVIDIA_GPU',
    model: 'NVIDIA H100 80GB HBM3',
    vendor: 'nvidia',
    count: 8,
    memory: 80 * GiB,
    tool: 'nvidia-smi',
    driver: '570.124.06',
  },
  {
    deviceType: 'AMD_GPU',
    model: 'AMD Instinct MI300X',
    vendor: 'amd',
    count: 8,
    memory: 192 * GiB,
    tool: 'amd-smi',
    driver: '6.12.12',
  },
  {
    deviceType: 'INTEL_GPU',
    model: 'Intel Data Center GPU Max 1550',
    vendor: 'intel',
    count: 4,
    memory: 128 * GiB,
    tool: 'xpu-smi',
    driver: '1.25.1',
  },
  {
    deviceType: 'HUAWEI_NPU',
    model: 'Ascend 910B3',
    vendor: 'huawei',
    count: 8,
    memory: 64 * GiB,
    tool: 'npu-smi',
    driver: '24.1.0',
  },
  {
    deviceType: 'THEAD_NPU',
    model: 'PPU-ZW810E',
    vendor: 'thead',
    count: 16,
    memory: 96 * GiB,
    tool: 'ppu-smi',
    driver: '1.5.0',
  },
  null,
]

/** Node number `index` of the room; kinds, states and health go round. */
export function pretendNode(index: number) {
  const kind = kinds[index % kinds.length] ?? null
  const status = index % 11 === 7 ? 'UNREACHABLE' : index % 17 === 9 ? 'MAINTENANCE' : index % 23 === 3 ? 'NEW' : 'READY'
  const alarm = index % 13 === 7
  const tools = ['nvidia-smi', 'amd-smi', 'xpu-smi', 'npu-smi', 'ppu-smi'].map((tool) => ({
    tool,
    state: tool === kind?.tool ? (index % 19 === 6 ? 'FAILED' : 'OK') : 'ABSENT',
    reason:
      index % 19 === 6 && tool === kind?.tool
        ? 'The driver and the library disagree: NVML 570.124 against kernel module 570.86.'
        : null,
    version: tool === kind?.tool ? kind.driver : null,
    durationMs: 240,
    deviceCount: tool === kind?.tool ? kind.count : null,
  }))
  const allDiscoveries = [0, 1, 2].map((age) => ({
    __typename: 'Discovery',
    id: `D${index}-${age}`,
    reason: age === 2 ? 'ONBOARDING' : 'SWEEP',
    status: age === 1 ? 'FAILED' : 'SUCCEEDED',
    error: age === 1 ? 'The node did not answer on 10.1.2.3:22 within 10 s.' : null,
    durationMs: 840,
    createdAt: ago(600 + age * 90_000),
    startedAt: ago(600 + age * 90_000),
    finishedAt: ago(599 + age * 90_000),
    acceleratorCount: kind?.count ?? 0,
    warnings: [],
    tools,
    evidence: '### os-release\nPRETTY_NAME="Ubuntu 24.04.2 LTS"\n### lscpu\nArchitecture: x86_64\n',
  }))
  return {
    __typename: 'ComputeNode',
    id: `TjpuZGUxMjM${index}=`,
    name: `gpu${String(index + 1).padStart(3, '0')}`,
    displayName: index === 2 ? 'Training head' : null,
    host: index % 9 === 4 ? `fd00:77::${index + 1}` : `10.1.${(index >> 8) & 255}.${index & 255}`,
    port: index % 9 === 4 ? 2222 : 22,
    status,
    statusReason:
      status === 'UNREACHABLE' ? 'No answer on 10.1.0.7:22 within 10 s, three times in a row. Is the machine on?' : null,
    nodeType: 'COMPUTE',
    tags: index % 3 === 0 ? ['rack4', 'inference'] : ['rack5'],
    labels: { row: 'B', owner: 'ml-platform' },
    notes: '',
    osName: 'Ubuntu',
    osVersion: '24.04.2',
    osId: 'ubuntu',
    arch: kind?.vendor === 'huawei' ? 'aarch64' : 'x86_64',
    kernel: '6.8.0-52-generic',
    cpuModel: 'AMD EPYC 9654 96-Core Processor',
    cpuSockets: 2,
    cpuCores: 192,
    cpuThreads: 384,
    memoryBytes: 1536 * GiB,
    lastSeenAt: status === 'NEW' ? null : ago(20 + ((index * 37) % 5000)),
    bootedAt: ago(1e6),
    bootId: 'b',
    discoveredAt: ago(600),
    createdAt: ago(5e6),
    updatedAt: ago(600),
    connectionType: 'SSH',
    sshUser: 'ansible',
    hostKeyFingerprint: 'SHA256:JmPq0aS9vTz4xQnE2yLr8dUkWc1bHf6oGi5tXv7sNeM',
    hostKeyApprovedAt: ago(5e6),
    hostKeyAlarm: alarm
      ? {
          offeredFingerprint: 'SHA256:vTz4xQnE2yLr8dUkWc1bHf6oGi5tXv7sNeMJmPq0aS9',
          pinnedFingerprint: 'SHA256:JmPq0aS9vTz4xQnE2yLr8dUkWc1bHf6oGi5tXv7sNeM',
          offeredAt: ago(300),
          isChanged: true,
        }
      : null,
    acceleratorSummary: kind
      ? [
          {
            deviceType: kind.deviceType,
            model: kind.model,
            count: kind.count,
            worstHealth: index % 19 === 6 ? 'CRITICAL' : index % 7 === 3 ? 'WARNING' : 'OK',
            memoryTotal: kind.memory * kind.count,
          },
        ]
      : [],
    credential: { __typename: 'Credential', id: 'C1', name: 'fleet key', kind: 'SSH_KEY' },
    becomeCredential: null,
    bastion: null,
    groups: [],
    writeBlockedReason: null,
    purgeBlockedReason: status === 'READY' ? 'Decommission the node first.' : null,
    facts: {
      os: { id: 'ubuntu', version: '24.04.2' },
      cpu: { sockets: 2, cores: 192, flags: ['avx512', 'amx'] },
      network: { eth0: { mac: '02:00:5e:10:00:01', mtu: 9000, addresses: ['10.1.2.3/24'] } },
      disks: [{ name: 'nvme0n1', size: 3_840_755_982_336 }],
    },
    latestDiscovery: allDiscoveries[0],
    latestConnectionTest: null,
    allDiscoveries,
    kind,
  }
}
export type PretendNode = ReturnType<typeof pretendNode>

/** The devices of a node, each a little different. */
export function accelerators({ kind, id }: PretendNode) {
  return Array.from({ length: kind?.count ?? 0 }, (_, index) => ({
    __typename: 'Accelerator',
    id: `${id}A${index}`,
    index,
    deviceType: kind?.deviceType,
    vendor: kind?.vendor,
    model: kind?.model,
    uuid: `GPU-5f1c7e2a-0b${index}d-4c1e-9a7b-3e5f8d2c6b1${index}`,
    serial: `13224230${index}4411`,
    pciAddress: `0000:${(0x1b + index * 24).toString(16)}:00.0`,
    memoryTotal: kind?.memory ?? null,
    memoryUsed: Math.round((kind?.memory ?? 0) * (0.1 + index * 0.1)),
    driverVersion: kind?.driver,
    firmwareVersion: '96.00.A5.00.01',
    toolkitVersion: '12.8',
    computeCapability: '9.0',
    numaNode: index > 3 ? 1 : 0,
    interconnect: 'NVLink 18x',
    eccMode: 'enabled',
    eccErrors: { corrected: 0, uncorrected: 0 },
    temperature: 34 + index * 3,
    power: 120 + index * 55,
    utilization: index * 12,
    health: index === 5 ? 'WARNING' : 'OK',
    source: 'TOOL',
    firstSeenAt: ago(1e6),
    lastSeenAt: ago(600),
    partitions:
      index === 0
        ? [{ kind: 'mig', index: 0, uuid: 'MIG-7a1', profile: '1g.10gb', memoryTotal: 10 * GiB, parentUuid: 'GPU-5f1c' }]
        : [],
  }))
}
