import { expect, it } from 'vitest'
import { fixture, sample } from '../test/node.ts'
import { parseIntel } from './index.ts'

const MIB = 1024 ** 2

it('reads v2: numbers for numbers, other nesting of figures, and leaves the integrated GPU out', () => {
  const { accelerators, warnings } = parseIntel({
    discovery: sample('intel/2.0-b60/discovery.json'),
    details: [sample('intel/2.0-b60/detail.json')],
    stats: [sample('intel/2.0-b60/stats.json')],
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
    utilisation: 2.5,
    partitionMode: null,
    health: 'ok',
  })
  expect(warnings).toEqual(['xpu-smi: left out 1 integrated GPU (Intel(R) UHD Graphics 770)'])
})

it('reads v1 with the details inside the list, and the health of each component', () => {
  const { accelerators } = parseIntel({
    discovery: sample('intel/1.2-flex140/dump.json'),
    health: sample('intel/1.2-flex140/health.json'),
  })
  expect(accelerators.map((device) => [device.memoryTotal, device.health, device.healthReason, device.firmwareVersion])).toEqual([
    [5955584000, 'critical', 'memory: Memory health is critical.', null],
    [5955584000, 'ok', null, null],
  ])
})

it('sums what only the tiles tell, and takes the hottest', () => {
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
  const [device] = parseIntel({ discovery: fixture('max1550x4/xpu-smi/discovery_-j.txt'), stats: [stats] }).accelerators
  expect(device).toMatchObject({ power: 220.5, temperature: 47, memoryUsed: 200 * MIB, utilisation: 25 })
})

it('takes memory in use beyond the card as bytes, as the service prints it', () => {
  const stats = JSON.stringify({ device_id: 0, device_level: [{ metrics_type: 'XPUM_STATS_MEMORY_USED', value: 8501719040 }] })
  const [device] = parseIntel({
    discovery: fixture('max1550x4/xpu-smi/discovery_-j.txt'),
    details: [fixture('max1550x4/xpu-smi/discovery_-d_0_-j.txt')],
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

it('takes the words of the service for an error', () => {
  expect(parseIntel({ discovery: '{"error": "Level Zero initialization error.", "errno": 3}' }).failure).toBe(
    'Level Zero initialization error.',
  )
})

it("never takes Kunlunxin's xpu-smi for Intel's", () => {
  const { accelerators, foreign, version } = parseIntel({
    discovery: "xpu-smi: invalid option 'discovery'",
    table: sample('other/kunlun-p800/table.txt'),
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
    utilisation: 5,
  })
})

it('warns of a device in survivability mode, though its details do not say so', () => {
  const discovery = sample('intel/2.0-b60/discovery.json').replace('"normal"', '"survivability"')
  const detail = sample('intel/2.0-b60/detail.json').replace('"device_state": "normal", ', '')
  for (const details of [[], [detail]])
    expect(parseIntel({ discovery, details }).accelerators[0]).toMatchObject({
      health: 'warning',
      healthReason: 'device state: survivability',
    })
})

it('reads the matrix of links between bars, as v1 draws it', () => {
  const topology = `         GPU 0/0|GPU 0/1|GPU 1/0|GPU 1/1|CPU Affinity
GPU 0/0 |S      |MDF    |XL16   |XL*    |0-23,48-71
GPU 0/1 |MDF    |S      |XL*    |XL16   |0-23,48-71
GPU 1/0 |XL16   |XL*    |S      |MDF    |24-47,72-95
GPU 1/1 |XL*    |XL16   |MDF    |S      |24-47,72-95
`
  const { accelerators } = parseIntel({ discovery: fixture('max1550x4/xpu-smi/discovery_-j.txt'), topology })
  expect(accelerators.map((device) => device.interconnect)).toEqual(['XL16 to 1 peer', 'XL16 to 1 peer', null, null])
})

it('takes virtual functions for slices of the card beside them, and for devices where there is no card', () => {
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

it('adds up what v2 tells per tile', () => {
  const tiles = (first: number, second: number) => ({ tile_0: { current: first }, tile_1: { current: second } })
  const stats = JSON.stringify({
    device_index: 0,
    utilization: { gpu_percent: { tile_0: 10, tile_1: 30 } },
    power: { gpu_power_w: tiles(100, 120), energy_consumed_j: 900 },
    temperature: { gpu_core_celsius: tiles(40, 45) },
    memory: { used_mib: tiles(512, 256) },
  })
  const [device] = parseIntel({ discovery: fixture('max1550x4/xpu-smi/discovery_-j.txt'), stats: [stats] }).accelerators
  expect(device).toMatchObject({ utilisation: 20, power: 220, temperature: 45, memoryUsed: 768 * MIB })
})
