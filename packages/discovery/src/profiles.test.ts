import { describe, expect, it } from 'vitest'
import { createFakeNode, runProbe } from '../test/node.ts'
import { type Accelerator, Discovery, parseProbe } from './index.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2

async function discover(profile: string, change?: (node: ReturnType<typeof createFakeNode>) => void): Promise<Discovery> {
  const node = createFakeNode(profile)
  change?.(node)
  try {
    return Discovery.parse(parseProbe((await runProbe(node)).stdout))
  } finally {
    node.remove()
  }
}

/** Expected devices and values by profile. */
const EXPECTED: Record<string, { tool: string; count: number; first: Partial<Accelerator>; toolkits: Record<string, string> }> = {
  h100x8: {
    tool: 'nvidia-smi',
    count: 8,
    toolkits: { cuda: '12.4.1', 'cuda (driver)': '12.4', 'nvidia driver': '550.54.15' },
    first: {
      deviceType: 'nvidia_gpu',
      model: 'NVIDIA H100 80GB HBM3',
      index: 0,
      uuid: 'GPU-0a1f0c00-7d1e-4b52-9f0a-51c2ee830010',
      serial: '165302310a1f0',
      pciAddress: '0000:1b:00.0',
      memoryTotal: 81559 * MIB,
      memoryUsed: 4 * MIB,
      driverVersion: '550.54.15',
      firmwareVersion: '96.00.74.00.11',
      toolkitVersion: '12.4.1',
      computeCapability: '9.0',
      partitionMode: 'MIG disabled',
      numaNode: 0,
      interconnect: 'NV18 to 7 peers',
      eccMode: 'enabled',
      temperature: 29,
      power: 68.31,
      utilization: 0,
    },
  },
  mi300x8: {
    tool: 'amd-smi',
    count: 8,
    toolkits: { rocm: '7.0.1' },
    first: {
      deviceType: 'amd_gpu',
      model: 'AMD Instinct MI300X',
      uuid: '0a1f74a1-0000-1000-80c0-5e1fa0b3d200',
      serial: '69240a1f00',
      pciAddress: '0000:05:00.0',
      memoryTotal: 196592 * MIB,
      driverVersion: '6.12.12',
      toolkitVersion: '7.0.1',
      computeCapability: 'gfx942',
      partitionMode: 'SPX/NPS1',
      partitions: [],
      interconnect: 'XGMI to 7 peers',
      temperature: 38,
      power: 133,
    },
  },
  max1550x4: {
    tool: 'xpu-smi',
    count: 4,
    toolkits: { oneapi: '2025.2' },
    first: {
      deviceType: 'intel_gpu',
      model: 'Intel(R) Data Center GPU Max 1550',
      serial: 'WSC020a1f0P',
      memoryTotal: 128 * GIB,
      toolkitVersion: '2025.2',
      partitionMode: '2 tiles',
      numaNode: 0,
      interconnect: 'XL16 to 3 peers',
      temperature: 34,
      power: 225.18,
    },
  },
  ascend910b3x8: {
    tool: 'npu-smi',
    count: 8,
    toolkits: { cann: '8.0.RC3', 'ascend driver': '24.1.rc3', 'ascend firmware': '7.5.0.1.129' },
    first: {
      deviceType: 'huawei_npu',
      model: 'Ascend910B3',
      uuid: '0a1f11D4 02103514 1711E610 6DA7040A 00102001',
      serial: '1023A0a1f100',
      slot: '0/0',
      pciAddress: '0000:c1:00.0',
      memoryTotal: 64 * GIB,
      toolkitVersion: '8.0.RC3',
      numaNode: 6,
      interconnect: 'HCCS to 7 peers',
      temperature: 41,
      power: 89.4,
      utilization: 0,
    },
  },
  ppuzw810ex16: {
    tool: 'ppu-smi',
    count: 16,
    toolkits: { hggc: '13.0', 'sail sdk': '2.1.1-a5c56e', 'thead driver': '2.1.0-dbda51' },
    first: {
      deviceType: 'thead_npu',
      model: 'PPU-ZW810E',
      uuid: 'GPU-019e0a1f-c100-0828-0000-0000c07e1a40',
      pciAddress: '0000:08:00.0',
      memoryTotal: 98304 * MIB,
      driverVersion: '2.1.0-dbda51',
      toolkitVersion: '13.0',
      computeCapability: '8.0',
      interconnect: 'SYS to 8 peers, ICN2 to 7 peers',
      temperature: 31,
      power: 74.2,
    },
  },
}

describe.each(Object.entries(EXPECTED))('%s', (profile, { tool, count, first, toolkits }) => {
  it('is parsed completely and without warnings', async () => {
    const discovery = await discover(profile)
    expect(discovery.accelerators).toHaveLength(count)
    expect(discovery.accelerators[0]).toMatchObject({ ...first, health: 'ok', source: 'tool', confidence: 'high' })
    expect(discovery.tools.find((one) => one.tool === tool)).toMatchObject({ state: 'OK', deviceCount: count })
    expect(discovery.tools.filter((one) => one.state !== 'ABSENT').map((one) => one.tool)).toEqual([tool])
    expect(discovery).toMatchObject({ warnings: [], truncated: false, host: { toolkits } })
    // Identifiers are unique on the node.
    for (const key of ['index', 'uuid', 'pciAddress', 'serial'] as const)
      expect(new Set(discovery.accelerators.map((device) => device[key])).size).toBe(count)
    expect(
      discovery.accelerators.every(
        (device) => device.memoryUsed !== null && device.utilization !== null && device.numaNode !== null,
      ),
    ).toBe(true)
  })
})

it('distinguishes MIG devices from their GPUs', async () => {
  const { accelerators } = await discover('h100x8-mig')
  expect(accelerators.map((device) => device.partitions.length)).toEqual([3, 3, 0, 0, 0, 0, 0, 0])
  const [first] = accelerators
  expect(first).toMatchObject({ partitionMode: 'MIG enabled', utilization: null, memoryTotal: 81559 * MIB })
  expect(first?.partitions[0]).toEqual({
    kind: 'mig',
    uuid: 'MIG-0a1f3a00-19c7-5e08-8d44-60b7f9120020',
    profile: '3g.40gb',
    index: 0,
    parentUuid: first?.uuid,
    memoryTotal: 40448 * MIB,
    instance: 'gi1/ci0',
    deviceFiles: ['/dev/nvidia0', '/dev/nvidia-caps/nvidia-cap12', '/dev/nvidia-caps/nvidia-cap13'],
  })
  expect(accelerators[1]?.partitions[2]?.deviceFiles).toEqual([
    '/dev/nvidia1',
    '/dev/nvidia-caps/nvidia-cap255',
    '/dev/nvidia-caps/nvidia-cap256',
  ])
})

it('keeps the PCI domain: two cards on one bus number in two domains', async () => {
  const { accelerators } = await discover('max1550x4')
  expect(accelerators.map((device) => device.pciAddress)).toEqual([
    '0000:18:00.0',
    '0000:42:00.0',
    '0001:18:00.0',
    '0001:42:00.0',
  ])
})

it('reports GPUs from PCI and /proc when the driver is broken', async () => {
  const discovery = await discover('nvidia-mismatch')
  expect(discovery.tools.find((tool) => tool.tool === 'nvidia-smi')).toMatchObject({
    state: 'FAILED',
    reason: 'Failed to initialize NVML: Driver/library version mismatch (NVML library 550.90) (exit code 18)',
    deviceCount: null,
  })
  expect(discovery.accelerators).toHaveLength(8)
  expect(discovery.accelerators[0]).toMatchObject({
    deviceType: 'nvidia_gpu',
    model: 'NVIDIA H100 80GB HBM3',
    uuid: 'GPU-0a1f0c00-7d1e-4b52-9f0a-51c2ee830010',
    firmwareVersion: '96.00.74.00.11',
    driverVersion: '550.54.15',
    memoryTotal: null,
    health: 'unknown',
    source: 'pci',
    confidence: 'low',
  })
  expect(discovery.warnings.join()).toContain('8 nvidia devices on the PCI bus')
})

it('reports a GPU that the tool does not list as not visible', async () => {
  const discovery = await discover('h100x8', (node) => {
    const without = `sed '/<gpu id="00000000:DF:00.0">/,/<.gpu>/d; /^7,/d'`
    node.move('nvidia-smi', 'whole').tool('nvidia-smi', `"${node.bin}/whole" "$@" | ${without}`)
  })
  expect(discovery.accelerators.map((device) => device.health)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'unknown'])
  expect(discovery.accelerators[7]).toMatchObject({
    pciAddress: '0000:df:00.0',
    source: 'pci',
    uuid: 'GPU-0a1f0c07-7d1e-4b52-9f0a-51c2ee830017',
  })
  expect(discovery.tools.find((tool) => tool.tool === 'nvidia-smi')).toMatchObject({ state: 'OK', deviceCount: 7 })
  expect(discovery.warnings.join()).toMatch(
    /reports 8 attached GPUs but describes 7.*lists 7 of 8 nvidia devices on the PCI bus; missing: 0000:df:00.0/,
  )
})

it('queries each GPU when a lost one makes calls for all fail', async () => {
  const words = 'Unable to determine the device handle for GPU0000:DF:00.0: Unknown Error'
  const discovery = await discover('h100x8', (node) => {
    const one = `"${node.bin}/whole" -q -x | awk -v id="<gpu id=\\"$address\\">" '/<gpu id/{keep=index($0,id)} !/<gpu/ && !seen || keep; /<gpu id/{seen=1}'; echo "</nvidia_smi_log>"`
    node
      .move('nvidia-smi', 'whole')
      .tool(
        'nvidia-smi',
        `case "$*" in *" -i "*) for last; do :; done; address=$(printf '0000%s' "$last" | tr a-f A-F); case $address in *DF*) ;; *) ${one}; exit 0 ;; esac ;; esac; echo '${words}'; exit 255`,
      )
  })
  expect(discovery.accelerators.map((device) => device.health)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'lost'])
  expect(discovery.accelerators[7]).toMatchObject({ healthReason: words, pciAddress: '0000:df:00.0' })
})

it('reads all devices of a node with bulky output', async () => {
  const discovery = await discover('h100x8', (node) => {
    const bulk = `/<.gpu>/{ print "<supported_clocks>"; for (i = 0; i < 4000; i++) print "<supported_graphics_clock>1980 MHz</supported_graphics_clock>"; print "</supported_clocks>" }`
    node.move('nvidia-smi', 'whole').tool('nvidia-smi', `"${node.bin}/whole" "$@" | awk '${bulk} {print}'`)
  })
  expect(discovery.accelerators.map((device) => device.health)).toEqual(Array(8).fill('ok'))
  expect(discovery.truncated).toBe(false)
})

it('reports devices without any tool', async () => {
  const discovery = await discover('mi300x8', (node) => {
    node.delete('amd-smi').delete('rocm-smi')
  })
  expect(discovery.accelerators).toHaveLength(8)
  expect(discovery.accelerators[3]).toMatchObject({
    model: 'AMD Instinct MI300X',
    source: 'pci',
    healthReason: 'amd-smi is not installed',
    numaNode: 0,
  })
  expect(discovery.tools.find((tool) => tool.tool === 'amd-smi')?.state).toBe('ABSENT')
})

it('falls back to rocm-smi', async () => {
  const discovery = await discover('mi300x8', (node) => {
    node.delete('amd-smi')
  })
  expect(discovery.tools.find((tool) => tool.tool === 'rocm-smi')).toMatchObject({ state: 'OK', deviceCount: 8 })
  expect(discovery.accelerators[1]).toMatchObject({
    pciAddress: '0000:26:00.0',
    memoryTotal: 206141652992,
    partitionMode: 'SPX/NPS1',
    uuid: '0x0a1f9b4e6c0d7a01',
    driverVersion: '6.12.12',
  })
})

it('attributes nvidia-smi of PPU images to T-Head', async () => {
  const discovery = await discover('ppuzw810ex16', (node) => {
    node.move('ppu-smi', 'nvidia-smi')
  })
  expect(discovery.tools.find((tool) => tool.tool === 'nvidia-smi')).toMatchObject({
    state: 'FOREIGN',
    reason: 'this nvidia-smi is T-Head PPU-SMI',
    deviceCount: 16,
  })
  expect(discovery.accelerators).toHaveLength(16)
  expect(new Set(discovery.accelerators.map((device) => device.deviceType))).toEqual(new Set(['thead_npu']))
})

it('reports each device once when a PPU image has both tool names', async () => {
  const discovery = await discover('ppuzw810ex16', (node) => {
    node.tool('nvidia-smi', 'exec ppu-smi "$@"')
  })
  expect(discovery.accelerators).toHaveLength(16)
})
