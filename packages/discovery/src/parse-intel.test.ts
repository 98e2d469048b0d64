import { expect, it } from 'vitest'
import { readFixture, readProfileFile } from '../test/node.ts'
import { parseIntel } from './index.ts'

const MIB = 1024 ** 2

it('parses v2: numbers, nested metrics, and ignores the integrated GPU', () => {
  const { accelerators, warnings } = parseIntel({
    discovery: readFixture('intel/2.0-b60/discovery.json'),
    details: [readFixture('intel/2.0-b60/detail.json')],
    stats: [readFixture('intel/2.0-b60/stats.json')],
  })
  expect(accelerators).toHaveLength(1)
  expect(accelerators[0]).toMatchObject({
    model: 'Intel(R) Arc(TM) Pro B60 Graphics',
    uuid: '00000000-0000-0000-926a-83c28645e226',
    serial: null,
    slot: null,
    memoryTotal: 25669140480,
    memoryUsed: 512 * MIB,
    eccMode: 'disabled',
    power: 32.5,
    temperature: 45,
    utilization: 2.5,
    partitionMode: null,
    health: 'ok',
  })
  expect(warnings).toEqual(['xpu-smi: ignored 1 integrated GPU (Intel(R) UHD Graphics 770)'])
})

it('parses v1 with details in the list, and component health', () => {
  const { accelerators } = parseIntel({
    discovery: readFixture('intel/1.2-flex140/dump.json'),
    health: readFixture('intel/1.2-flex140/health.json'),
  })
  expect(accelerators.map((device) => [device.memoryTotal, device.health, device.healthReason, device.firmwareVersion])).toEqual([
    [5955584000, 'critical', 'memory: Memory health is critical.', null],
    [5955584000, 'ok', null, null],
  ])
})

it('aggregates tile metrics: sum of power, maximum temperature', () => {
  const tile = (id: number, power: number, heat: number) => ({
    tile_id: id,
    data_list: [
      { metrics_type: 'XPUM_STATS_POWER', value: power },
      { metrics_type: 'XPUM_STATS_GPU_CORE_TEMPERATURE', value: heat },
      { metrics_type: 'XPUM_STATS_MEMORY_USED', value: 100 },
      { metrics_type: 'XPUM_STATS_GPU_UTILIZATION', value: id * 50 },
    ],
  })
  const stats = JSON.stringify({ device_id: 0, tile_level: [tile(0, 100, 40), tile(1, 120.5, 47)] })
  const [device] = parseIntel({ discovery: readProfileFile('max1550x4/xpu-smi/discovery_-j.txt'), stats: [stats] }).accelerators
  expect(device).toMatchObject({ power: 220.5, temperature: 47, memoryUsed: 200 * MIB, utilization: 25 })
})

it('interprets used memory beyond the card size as bytes', () => {
  const stats = JSON.stringify({ device_id: 0, device_level: [{ metrics_type: 'XPUM_STATS_MEMORY_USED', value: 8501719040 }] })
  const [device] = parseIntel({
    discovery: readProfileFile('max1550x4/xpu-smi/discovery_-j.txt'),
    details: [readProfileFile('max1550x4/xpu-smi/discovery_-d_0_-j.txt')],
    stats: [stats],
  }).accelerators
  expect(device?.memoryUsed).toBe(8501719040)
})

it.each([
  '{"device_list": "No device discovered"}',
  '{"device_list": null}',
  'No device discovered',
  '{"error": "Level Zero initialization error.", "errno": 3}',
  'Sysman driver initialized successfully.\n',
])('finds no device in %j, and says why', (discovery) => {
  const { accelerators, failure } = parseIntel({ discovery })
  expect(accelerators).toEqual([])
  expect(failure).toBeTruthy()
})

it('uses the error message of the service', () => {
  expect(parseIntel({ discovery: '{"error": "Level Zero initialization error.", "errno": 3}' }).failure).toBe(
    'Level Zero initialization error.',
  )
})

it("never reports Kunlunxin's xpu-smi as Intel's", () => {
  const { accelerators, foreign, version } = parseIntel({
    discovery: "xpu-smi: invalid option 'discovery'",
    table: readFixture('other/kunlun-p800/table.txt'),
  })
  expect({ foreign, version }).toEqual({ foreign: 'Kunlunxin XPU-SMI', version: '5.19.0.0' })
  expect(accelerators).toHaveLength(2)
  expect(accelerators[0]).toMatchObject({
    deviceType: 'other',
    vendor: 'kunlunxin',
    model: 'P800 OAM',
    pciAddress: '0000:03:00.0',
    memoryTotal: 98304 * MIB,
    memoryUsed: 1024 * MIB,
    temperature: 35,
    power: 87,
    utilization: 5,
  })
})

it('warns of a device in survivability mode when only the list contains the state', () => {
  const discovery = readFixture('intel/2.0-b60/discovery.json').replace('"normal"', '"survivability"')
  const detail = readFixture('intel/2.0-b60/detail.json').replace('"device_state": "normal", ', '')
  for (const details of [[], [detail]])
    expect(parseIntel({ discovery, details }).accelerators[0]).toMatchObject({
      health: 'warning',
      healthReason: 'device state: survivability',
    })
})

it('parses the topology matrix with bars of v1', () => {
  const topology = `         GPU 0/0|GPU 0/1|GPU 1/0|GPU 1/1|CPU Affinity
GPU 0/0 |S      |MDF    |XL16   |XL*    |0-23,48-71
GPU 0/1 |MDF    |S      |XL*    |XL16   |0-23,48-71
GPU 1/0 |XL16   |XL*    |S      |MDF    |24-47,72-95
GPU 1/1 |XL*    |XL16   |MDF    |S      |24-47,72-95
`
  const { accelerators } = parseIntel({ discovery: readProfileFile('max1550x4/xpu-smi/discovery_-j.txt'), topology })
  expect(accelerators.map((device) => device.interconnect)).toEqual(['XL16 to 1 peer', 'XL16 to 1 peer', null, null])
})

it('treats virtual functions as partitions of their card, and as devices without a card', () => {
  const entry = (device_id: number, device_function_type: string) => ({
    device_id,
    device_function_type,
    device_name: 'Intel(R) Data Center GPU Flex 170',
    pci_bdf_address: `0000:4d:00.${device_id}`,
    vendor_name: 'Intel(R) Corporation',
  })
  const read = (...device_list: object[]) =>
    parseIntel({ discovery: JSON.stringify({ device_list }), details: [JSON.stringify({ ...device_list.at(-1) })] })
  expect(read(entry(0, 'physical'), entry(1, 'virtual')).accelerators.map((device) => device.index)).toEqual([0])
  expect(read(entry(1, 'virtual')).accelerators.map((device) => device.index)).toEqual([1])
})

it('sums the tile metrics of v2', () => {
  const tiles = (first: number, second: number) => ({ tile_0: { current: first }, tile_1: { current: second } })
  const stats = JSON.stringify({
    device_index: 0,
    utilization: { gpu_percent: { tile_0: 10, tile_1: 30 } },
    power: { gpu_power_w: tiles(100, 120), energy_consumed_j: 900 },
    temperature: { gpu_core_celsius: tiles(40, 45) },
    memory: { used_mib: tiles(512, 256) },
  })
  const [device] = parseIntel({ discovery: readProfileFile('max1550x4/xpu-smi/discovery_-j.txt'), stats: [stats] }).accelerators
  expect(device).toMatchObject({ utilization: 20, power: 220, temperature: 45, memoryUsed: 768 * MIB })
})
