import type { Accelerator, Discovery } from '@muster/discovery'

/** An accelerator as a vendor tool reports it, changed by `fields`. */
export function acceleratorFixture(index: number, fields: Partial<Accelerator> = {}): Accelerator {
  return {
    deviceType: 'nvidia_gpu',
    vendor: 'nvidia',
    model: 'NVIDIA H100 80GB HBM3',
    index,
    uuid: `GPU-00000000-0000-0000-0000-00000000000${index}`,
    serial: `165000${index}`,
    slot: null,
    pciAddress: `0000:${(0x10 + index).toString(16)}:00.0`,
    memoryTotal: 85_520_809_984,
    memoryUsed: 0,
    memoryUnified: false,
    driverVersion: '570.133.20',
    firmwareVersion: '96.00.99.00.01',
    toolkitVersion: '12.8',
    computeCapability: '9.0',
    partitionMode: null,
    partitions: [],
    numaNode: 0,
    interconnect: null,
    eccMode: 'enabled',
    eccErrors: null,
    temperature: 31,
    power: 70.5,
    utilization: 0,
    health: 'ok',
    healthReason: null,
    source: 'tool',
    confidence: 'high',
    ...fields,
  }
}

/** Result of probing a Linux node, changed by `fields` and `host`. */
export function discoveryFixture(fields: Partial<Discovery> = {}, host: Partial<Discovery['host']> = {}): Discovery {
  return {
    schemaVersion: 1,
    host: {
      hostname: 'gpu1',
      fqdn: 'gpu1.example.com',
      arch: 'x86_64',
      os: { id: 'ubuntu', versionId: '24.04', name: 'Ubuntu 24.04.3 LTS', family: 'debian' },
      kernel: '6.8.0-60-generic',
      machineId: '0123456789abcdef0123456789abcdef',
      bootId: '6f1f6a2e-0000-4000-8000-000000000001',
      uptimeSeconds: 3600.5,
      cpu: { model: 'AMD EPYC 9654', sockets: 2, cores: 192, threads: 384, numaCores: { 0: '0-95', 1: '96-191' } },
      memoryBytes: 1_622_950_400_000,
      swapBytes: 0,
      numaNodes: 2,
      disks: [],
      mounts: [],
      nics: [],
      primaryAddress: '10.0.0.1',
      infiniband: [],
      pci: [],
      python: { path: '/usr/bin/python3', version: '3.12.3' },
      dmi: { vendor: null, product: null, serial: null, uuid: null, board: null, bios: null },
      virtualization: null,
      toolkits: {},
      ...host,
    },
    tools: [],
    accelerators: [],
    warnings: [],
    truncated: false,
    durationMs: 120,
    ...fields,
  }
}
