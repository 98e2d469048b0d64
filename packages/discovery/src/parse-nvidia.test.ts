import { describe, expect, it } from 'vitest'
import { readFixture, readProfileFile } from '../test/node.ts'
import { nvidiaCsv, parseNvidia } from './index.ts'

const MIB = 1024 ** 2
const MIN =
  'h100x8/nvidia-smi/--query-gpu=index,name,uuid,serial,pci.bus_id,memory.total,memory.used,driver_version,vbios_version,temperature.gpu,power.draw,power.limit,utilization.gpu,ecc.mode.current,mig.mode.current_--format=csv,noheader,nounits.txt'

describe('XML', () => {
  it('of driver 610: new version tags, instant GPU power, PCI domains', () => {
    const { accelerators, version, toolkits, warnings } = parseNvidia({ xml: readFixture('nvidia/610-gb200/q_x.xml') })
    expect({ version, toolkits, warnings }).toEqual({
      version: '610.57.04',
      toolkits: { 'nvidia driver': '610.57.04', 'cuda (driver)': '13.3' },
      warnings: [],
    })
    expect(accelerators.map((device) => device.pciAddress)).toEqual(['0008:01:00.0', '0009:01:00.0'])
    expect(accelerators[0]).toMatchObject({
      model: 'NVIDIA GB200',
      power: 172.5,
      memoryTotal: 189471 * MIB,
      partitionMode: null,
      eccErrors: null,
      toolkitVersion: '13.3',
      driverVersion: '610.57.04',
      health: 'ok',
    })
    // Two GPUs of one module share a serial and stay separate devices.
    expect(accelerators.map((device) => device.serial)).toEqual(['1655923000123', '1655923000123'])
  })

  it('of a lost GPU: identity, no metrics, health lost', () => {
    expect(parseNvidia({ xml: readFixture('nvidia/535-lost/q_x.xml') }).accelerators).toEqual([
      expect.objectContaining({
        model: 'NVIDIA H100 80GB HBM3',
        uuid: 'GPU-105700aa-0000-1111-2222-333344445555',
        pciAddress: '0000:0f:00.0',
        memoryTotal: null,
        temperature: null,
        firmwareVersion: null,
        health: 'lost',
      }),
    ])
  })

  it('of 2019: no driver, no serial, nested error counts, 4-digit domain', () => {
    const [device] = parseNvidia({ xml: readFixture('nvidia/418-v100/q_x.xml') }).accelerators
    expect(device).toMatchObject({
      pciAddress: '0000:1a:00.0',
      driverVersion: null,
      serial: null,
      power: 41.76,
      eccErrors: { correctedVolatile: 2, uncorrectedVolatile: 0 },
      health: 'warning',
      healthReason: 'page retirement pending',
    })
  })

  it('that is truncated keeps complete devices and warns of missing ones', () => {
    const whole = readProfileFile('h100x8/nvidia-smi/-q_-x.txt')
    const { accelerators, warnings } = parseNvidia({ xml: whole.slice(0, whole.indexOf('<gpu id="00000000:C3:00.0">') + 200) })
    expect(accelerators.length).toBeGreaterThanOrEqual(5)
    expect(accelerators[4]).toMatchObject({ memoryTotal: 81559 * MIB, health: 'ok' })
    expect(warnings.join()).toContain('8 attached GPUs')
  })

  it('never expands entities', () => {
    const bomb = `<?xml version="1.0"?><!DOCTYPE nvidia_smi_log [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><nvidia_smi_log><gpu id="00000000:01:00.0"><product_name>&b;</product_name></gpu></nvidia_smi_log>`
    expect(parseNvidia({ xml: bomb }).accelerators[0]?.model).toBe('&b;')
  })

  it.each([
    ['<gpu_recovery_action>Reset</gpu_recovery_action>', 'critical', 'recovery action: Reset'],
    ['<gpu_recovery_action>Drain P2P</gpu_recovery_action>', 'warning', 'recovery action: Drain P2P'],
    ['<gpu_recovery_action>None</gpu_recovery_action>', 'ok', null],
    ['<gpu_reset_status><reset_required>Yes</reset_required></gpu_reset_status>', 'critical', 'reset required'],
    ['<remapped_rows><remapped_row_failure>Yes</remapped_row_failure></remapped_rows>', 'critical', 'row remapping failed'],
    ['<remapped_rows><remapped_row_pending>Yes</remapped_row_pending></remapped_rows>', 'warning', 'row remapping pending'],
    [
      '<ecc_errors><volatile><dram_uncorrectable>2</dram_uncorrectable></volatile></ecc_errors>',
      'warning',
      '2 uncorrected memory errors since the driver was loaded',
    ],
    ['<ecc_errors><unrepairable_memory>Yes</unrepairable_memory></ecc_errors>', 'critical', 'unrepairable memory'],
    ['<ecc_errors><channel_repair_pending>Yes</channel_repair_pending></ecc_errors>', 'warning', 'channel repair pending'],
    ['<ecc_errors><tpc_repair_pending>Yes</tpc_repair_pending></ecc_errors>', 'warning', 'TPC repair pending'],
    ['<fabric><state>Completed</state><status>Success</status></fabric>', 'ok', null],
    ['<fabric><state>N/A</state><status>N/A</status></fabric>', 'ok', null],
    ['<fabric><state>In Progress</state><status>N/A</status></fabric>', 'warning', 'fabric state: In Progress'],
    ['<fabric><state>Completed</state><status>Failed</status></fabric>', 'warning', 'fabric status: Failed'],
    [
      '<fabric><state>Completed</state><health><summary>Unhealthy</summary><route_unhealthy>True</route_unhealthy></health></fabric>',
      'warning',
      'fabric health: Unhealthy',
    ],
    [
      '<fabric><health><route_unhealthy>True</route_unhealthy></health></fabric>',
      'warning',
      'fabric health: route unhealthy: True',
    ],
    ['<fabric><health><bandwidth>Full</bandwidth><route_unhealthy>False</route_unhealthy></health></fabric>', 'ok', null],
    ['<temperature><gpu_temp>GPU requires reset</gpu_temp></temperature>', 'critical', 'GPU requires reset'],
    [
      '<temperature><gpu_temp>Unknown Error</gpu_temp></temperature>',
      'warning',
      'the tool prints Unknown Error in place of a reading',
    ],
  ])('%s is %s', (part, health, healthReason) => {
    const xml = `<nvidia_smi_log><gpu id="00000000:01:00.0"><product_name>NVIDIA X</product_name>${part}</gpu></nvidia_smi_log>`
    expect(parseNvidia({ xml }).accelerators[0]).toMatchObject({ health, healthReason })
  })
})

describe('CSV', () => {
  it('of the fields that every driver supports', () => {
    const { accelerators } = parseNvidia({ csv: [readProfileFile(MIN)] })
    expect(accelerators).toHaveLength(8)
    expect(accelerators[2]).toMatchObject({
      index: 2,
      pciAddress: '0000:52:00.0',
      memoryUsed: 71264 * MIB,
      utilization: 97,
      power: 71.05,
      driverVersion: '550.54.15',
    })
  })

  it('with header and units, any field order, and unknown fields', () => {
    const text =
      'name, pci.bus_id, memory.total [MiB], power.draw [W], weather, index\r\nNVIDIA T4, 00000000:00:1E.0, 15360 MiB, 9.71 W, fine, 0\r\n'
    expect(nvidiaCsv(text).accelerators).toEqual([
      expect.objectContaining({
        model: 'NVIDIA T4',
        pciAddress: '0000:00:1e.0',
        memoryTotal: 15360 * MIB,
        power: 9.71,
        index: 0,
      }),
    ])
  })

  it.each([
    '[N/A]',
    'N/A',
    '[Not Supported]',
    '[Insufficient Permissions]',
    '[Requested functionality has been deprecated]',
    '[Function Not Found]',
    '',
  ])('%j is no value, and 0 is one', (cell) => {
    const [device] = nvidiaCsv(`NVIDIA A, ${cell}, 0`, ['name', 'utilization.gpu', 'temperature.gpu']).accelerators
    expect(device).toMatchObject({ utilization: null, temperature: 0, health: 'ok' })
  })

  it.each(['[Unknown Error]', 'ERR!'])('%j is no value, and a warning', (cell) => {
    const [device] = nvidiaCsv(`NVIDIA A, ${cell}, 0`, ['name', 'utilization.gpu', 'temperature.gpu']).accelerators
    expect(device).toMatchObject({
      ...{ utilization: null, temperature: 0, health: 'warning' },
      healthReason: `the tool prints ${cell} in place of a reading`,
    })
  })

  it('takes the index of the tool, which skips lost devices', () => {
    const gpu = (bus: string) => `<gpu id="00000000:${bus}:00.0"><product_name>NVIDIA A</product_name></gpu>`
    const xml = `<nvidia_smi_log>${gpu('01')}${gpu('03')}${gpu('04')}</nvidia_smi_log>`
    const text = '0, 00000000:01:00.0\n2, 00000000:03:00.0\n3, 00000000:04:00.0\n'
    const topology = `\tGPU0\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\tNV4\t0-7\t0\nGPU2\tNV4\t X \tNV4\t8-15\t1\nGPU3\tNV4\tNV4\t X \t8-15\t1\n`
    const { accelerators } = parseNvidia({ xml, csv: [{ fields: ['index', 'pci.bus_id'], text }], topology })
    expect(accelerators.map(({ index, numaNode }) => [index, numaNode])).toEqual([
      [0, 0],
      [2, 1],
      [3, 1],
    ])
  })

  it('reads a list of fields with thousands of brackets in linear time', () => {
    expect(nvidiaCsv('NVIDIA A, 1', ['['.repeat(160_000), 'name']).accelerators).toHaveLength(1)
  })

  it('of unified memory: no size, flag set', () => {
    const [device] = parseNvidia({
      csv: [{ fields: ['name', 'memory.total', 'driver_version'], text: 'NVIDIA GB10, [N/A], 580.126.09\n' }],
    }).accelerators
    expect(device).toMatchObject({ model: 'NVIDIA GB10', memoryTotal: null, memoryUnified: true, driverVersion: '580.126.09' })
  })

  it('of a GPU that is lost or requires a reset', () => {
    const rows = '0, NVIDIA A, GPU-1, [GPU is lost]\n1, NVIDIA A, GPU-2, [GPU requires reset]\n'
    expect(nvidiaCsv(rows, ['index', 'name', 'uuid', 'temperature.gpu']).accelerators.map((device) => device.health)).toEqual([
      'lost',
      'critical',
    ])
  })

  it('ignores ragged rows, error lines and rows without values', () => {
    const whole = readProfileFile(MIN).trimEnd().split('\n')
    const nothing = Array(15).fill('[N/A]').join(', ')
    const text = [
      whole[0],
      whole[1]?.split(', ').slice(0, 9).join(', '),
      'Unable to determine the device handle for GPU0000:C3:00.0: Unknown Error',
      nothing,
      whole[3],
    ].join('\n')
    const { accelerators, warnings } = parseNvidia({ csv: [text] })
    expect(accelerators.map((device) => device.index)).toEqual([0, 3])
    expect(warnings.join()).toMatch(
      /a row with 9 of 15 columns.*without name, UUID and PCI address.*Unable to determine the device handle/,
    )
  })

  it('with a duplicate UUID: one device per PCI address', () => {
    const row = (index: number, bus: string) => `${index}, NVIDIA A, GPU-aa, 00000000:${bus}:00.0`
    const read = (text: string) => parseNvidia({ csv: [{ fields: ['index', 'name', 'uuid', 'pci.bus_id'], text }] })
    expect(read([row(0, '01'), row(0, '01')].join('\n')).accelerators).toHaveLength(1)
    expect(read([row(0, '01'), row(1, '02')].join('\n'))).toMatchObject({
      accelerators: { length: 2 },
      warnings: [expect.stringContaining('same UUID')],
    })
  })

  it('ignores all-zero UUIDs and serials', () => {
    expect(
      nvidiaCsv('NVIDIA A, GPU-00000000-0000-0000-0000-000000000000, 0', ['name', 'uuid', 'serial']).accelerators[0],
    ).toMatchObject({ uuid: null, serial: null })
  })
})

describe('other texts', () => {
  it('-L only, with MIG devices in both formats', () => {
    const list =
      'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1a)\n  MIG 3g.40gb     Device  0: (UUID: MIG-2b)\n  MIG 1c.3g.71gb  Device  1: (MIG-GPU-1a/3/0)\nGPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-2c)\n'
    const { accelerators } = parseNvidia({ list })
    expect(accelerators.map((device) => device.partitions.map((part) => [part.uuid, part.profile, part.index]))).toEqual([
      [
        ['MIG-2b', '3g.40gb', 0],
        ['MIG-GPU-1a/3/0', '1c.3g.71gb', 1],
      ],
      [],
    ])
  })

  it('the table only, of old and new drivers', () => {
    const text = readProfileFile('h100x8/nvidia-smi/_.txt')
    expect(parseNvidia({ table: text }).accelerators).toHaveLength(8)
    expect(parseNvidia({ table: text })).toMatchObject({ version: '550.54.15', toolkits: { 'cuda (driver)': '12.4' } })
    const banner = '| NVIDIA-SMI 610.57.04              KMD Version: 610.57.04     CUDA UMD Version: 13.3     |'
    expect(parseNvidia({ table: text.replace(/\| NVIDIA-SMI.*\|/, banner) }).toolkits).toEqual({
      'nvidia driver': '610.57.04',
      'cuda (driver)': '13.3',
    })
  })

  it('the table of boards with a fan, and of boards without dedicated memory', () => {
    const table = `| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |
|   0  NVIDIA GeForce RTX 2080 Ti     Off |   00000000:01:00.0  On |                  N/A |
| 41%   33C    P8             20W /  250W |     453MiB /  11264MiB |      3%      Default |
|                                         |                        |                  N/A |
|   1  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |                  N/A |
| N/A   40C    P8              4W /  N/A  | Not Supported          |      7%      Default |
`
    expect(parseNvidia({ table }).accelerators).toEqual([
      expect.objectContaining({ utilization: 3, temperature: 33, power: 20, memoryUsed: 453 * MIB, memoryTotal: 11264 * MIB }),
      expect.objectContaining({ utilization: 7, temperature: 40, power: 4, memoryTotal: null, memoryUnified: true }),
    ])
  })

  it('-q as text', () => {
    expect(parseNvidia({ query: readFixture('nvidia/550-q-text/q.txt') }).accelerators).toEqual([
      expect.objectContaining({
        model: 'NVIDIA A100-SXM4-40GB',
        uuid: 'GPU-a1000000-1234-1234-1234-123412341234',
        memoryTotal: 40960 * MIB,
        driverVersion: '550.54.15',
        toolkitVersion: '12.4',
        eccErrors: { correctedVolatile: 1, uncorrectedVolatile: 0, correctedAggregate: null, uncorrectedAggregate: null },
        health: 'warning',
        healthReason: 'row remapping pending',
        power: 52.11,
      }),
    ])
  })

  it('--version of driver 610 with deprecated labels', () => {
    const version =
      'NVIDIA-SMI version  : 610.57.04\nNVML version        : 610.57\nDRIVER version      : Deprecated, see "KMD version" instead\nKMD version         : 610.57.04\nCUDA version        : Deprecated, see "CUDA UMD version" instead\nCUDA UMD version    : 13.3\n'
    expect(parseNvidia({ version }).toolkits).toEqual({ 'nvidia driver': '610.57.04', 'cuda (driver)': '13.3' })
  })

  it('topo -m with ANSI, an empty column, NICs, and NUMA nodes', () => {
    const topology =
      '\t\u001b[4mGPU0\tGPU1\tmlx5_0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001b[0m\nGPU0\t X \tNV6\tPIX\t0-31\t0\t\tN/A\nGPU1\tNV6\t X \tSYS\t32-63\t1\t\tN/A\nmlx5_0\tPIX\tSYS\t X \t\t\t\t\n'
    const list = 'GPU 0: NVIDIA A (UUID: GPU-1)\nGPU 1: NVIDIA A (UUID: GPU-2)\n'
    expect(parseNvidia({ list, topology }).accelerators.map((device) => [device.interconnect, device.numaNode])).toEqual([
      ['NV6 to 1 peer', 0],
      ['NV6 to 1 peer', 1],
    ])
  })

  it.each([
    [
      'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161',
      'Failed to initialize NVML: Driver/library version mismatch (NVML library 535.161)',
    ],
    [
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.",
      expect.stringContaining("couldn't communicate"),
    ],
    ['No devices were found', 'No devices were found'],
    ['Failed to initialize NVML: Unknown Error', 'Failed to initialize NVML: Unknown Error'],
    ['Field "compute_cap" is not a valid field to query.', expect.stringContaining('not a valid field')],
  ])('%s: no device, and the reason', (text, failure) => {
    for (const texts of [{ xml: text }, { csv: [text] }, { list: text }, { table: text }])
      expect(parseNvidia(texts)).toMatchObject({ accelerators: [], failure, foreign: null })
  })
})
