import { expect, it } from 'vitest'
import { readFixture, readProfileFile } from '../test/node.ts'
import { parseAmd } from './index.ts'

const MIB = 1024 ** 2

it('accepts the top-level layouts of all releases', () => {
  const gpu = { gpu: 0, asic: { market_name: 'AMD Instinct MI300X' }, bus: { bdf: '0000:05:00.0' } }
  for (const value of [[gpu], { gpu_data: [gpu] }, { gpus: [gpu] }, gpu]) {
    const { accelerators } = parseAmd({ static: JSON.stringify(value) })
    expect(accelerators).toEqual([expect.objectContaining({ model: 'AMD Instinct MI300X', pciAddress: '0000:05:00.0' })])
  }
})

it.each([
  [{ size: { value: 16368, unit: 'MB' } }, 17163091968],
  [{ vram_size: { value: 196592, unit: 'MB' } }, 206141652992],
  [{ size_mb: 65520 }, 65520 * MIB],
  [{ vram_type: 'HBM', vram_size_mb: 196592 }, 206141652992],
  [{ size: { value: 34359738368, unit: 'B' } }, 34359738368],
  [{ size: { value: 192, unit: 'GB' } }, 192 * 1024 * MIB],
  [{ size: '16368 MB' }, 17163091968],
  [{ size: 16368 }, 17163091968],
  [{ size: 'N/A' }, null],
  ['N/A', null],
])('memory %j: MB is MiB', (vram, memoryTotal) => {
  expect(parseAmd({ static: JSON.stringify([{ gpu: 0, asic: { market_name: 'A' }, vram }]) }).accelerators[0]?.memoryTotal).toBe(
    memoryTotal,
  )
})

it.each([
  [{ name: 'amdgpu', version: '6.12.12' }, '6.12.12'],
  [{ driver_name: 'amdgpu', driver_version: '6.3.6' }, '6.3.6'],
  [{ NAME: 'amdgpu', VERSION: '6.3.6' }, '6.3.6'],
  ['6.3.6', '6.3.6'],
  [{ name: 'amdgpu', version: 'Linuxversion6.14.0-24-generic(buildd@lcy02' }, null],
  ['N/A', null],
])('driver %j is %s', (driver, version) => {
  expect(
    parseAmd({ static: JSON.stringify([{ gpu: 0, asic: { market_name: 'A' }, driver }]) }).accelerators[0]?.driverVersion,
  ).toBe(version)
})

it('merges the eight CPX partitions into their card and counts its memory once', () => {
  const { accelerators, failure } = parseAmd({
    static: readFixture('amd/6.3-cpx/static.json'),
    list: readFixture('amd/6.3-cpx/list.json'),
    metric: readFixture('amd/6.3-cpx/metric.json'),
  })
  expect(failure).toBeNull()
  expect(accelerators).toHaveLength(1)
  expect(accelerators[0]).toMatchObject({
    memoryTotal: 196592 * MIB,
    partitionMode: 'CPX/NPS1',
    driverVersion: null,
    power: 140,
    temperature: 41,
    utilization: 7,
    eccErrors: null,
    memoryUsed: null,
  })
  expect(accelerators[0]?.partitions).toHaveLength(8)
  expect(accelerators[0]?.partitions[7]).toEqual({
    kind: 'xcp',
    uuid: '5aff74a1-0000-1000-8007-ffee12345678',
    profile: 'CPX',
    index: 7,
    parentUuid: '5aff74a1-0000-1000-8000-ffee12345678',
    memoryTotal: (196592 * MIB) / 8,
  })
})

it('merges partitions with one PCI address, as in older releases', () => {
  const one = readFixture('amd/6.3-cpx/static.json').replace(/0000:05:00\.\d/g, '0000:05:00.0')
  expect(parseAmd({ static: one }).accelerators.map((device) => device.partitions.length)).toEqual([8])
})

it('keeps the two dies of a MI250X as separate devices; the second has no power reading', () => {
  const { accelerators } = parseAmd({
    static: readFixture('amd/6.1-mi250x/static.json'),
    metric: readFixture('amd/6.1-mi250x/metric.json'),
  })
  expect(accelerators.map((device) => [device.pciAddress, device.power, device.partitions.length])).toEqual([
    ['0000:c1:00.0', 90, 0],
    ['0000:c6:00.0', null, 0],
    ['0000:cb:00.0', 90, 0],
    ['0000:d0:00.0', null, 0],
  ])
  expect(accelerators[0]).toMatchObject({ driverVersion: '6.3.6', temperature: 33, memoryTotal: 65520 * MIB })
})

it('ignores a hexadecimal ID in place of a model name', () => {
  const gpu = { gpu: 0, asic: { market_name: '0x74a1' }, board: { product_name: 'AMD Instinct MI300X OAM' } }
  expect(parseAmd({ static: JSON.stringify([gpu]) }).accelerators[0]?.model).toBe('AMD Instinct MI300X OAM')
})

it('falls back to the board name, and to `list` when `static` failed', () => {
  expect(
    parseAmd({ static: '[{"gpu":0,"asic":{"market_name":"N/A"},"board":{"product_name":"AMD Instinct MI210"}}]' }).accelerators[0]
      ?.model,
  ).toBe('AMD Instinct MI210')
  expect(
    parseAmd({ static: 'AttributeError: boom', list: readProfileFile('mi300x8/amd-smi/list_--json.txt') }).accelerators,
  ).toHaveLength(8)
})

it.each([
  [{ UMC: 'ENABLED', HDP: 'DISABLED' }, 'enabled'],
  [[{ block: 'UMC', status: 'ENABLED' }], 'enabled'],
  [[{ block: 'UMC', status: 'DISABLED' }], 'disabled'],
  ['N/A', null],
])('reads the ECC state %j', (ecc_block_state, eccMode) => {
  const text = JSON.stringify([{ gpu: 0, asic: { market_name: 'A' }, ras: { ecc_block_state } }])
  expect(parseAmd({ static: text }).accelerators[0]?.eccMode).toBe(eccMode)
})

it('reports uncorrected errors as a warning', () => {
  const metric = JSON.stringify([{ gpu: 0, ecc: { total_correctable_count: 4, total_uncorrectable_count: 1 } }])
  expect(parseAmd({ static: '[{"gpu":0,"asic":{"market_name":"A"}}]', metric }).accelerators[0]).toMatchObject({
    health: 'warning',
    eccErrors: { correctedVolatile: 4, uncorrectedVolatile: 1 },
  })
})

it('parses JSON within other text, with CRLF and ANSI sequences, and truncated JSON', () => {
  const whole = readProfileFile('mi300x8/amd-smi/static_--json.txt')
  const noisy = `\u001b[33m[WARN] sensors [0] busy\u001b[0m\r\n${whole.replaceAll('\n', '\r\n')}\r\n'CTRL' + 'C' to stop watching output:\r\n`
  expect(parseAmd({ static: noisy }).accelerators).toHaveLength(8)
  const cut = parseAmd({ static: whole.slice(0, Math.floor(whole.length * 0.7)) }).accelerators
  expect(cut.length).toBeGreaterThanOrEqual(5)
  expect(cut[2]).toMatchObject({ pciAddress: '0000:46:00.0', memoryTotal: 196592 * MIB })
})

it('parses rocm-smi 5.7: preamble, numeric order of cards, unpadded UUID, bytes', () => {
  const { accelerators } = parseAmd({ rocm: [readFixture('amd/rocm-5.7/rocm-smi.json')] })
  expect(accelerators.map((device) => device.index)).toEqual([0, 9, 10])
  expect(accelerators[0]).toMatchObject({
    model: 'Arcturus GL-XL [AMD Instinct MI100]',
    memoryTotal: 34342961152,
    power: 34,
    temperature: 30,
    numaNode: 1,
    driverVersion: '6.2.4',
    firmwareVersion: '113-D3431401-100',
    serial: 'PCB00',
  })
})

it('merges partitions that rocm-smi lists as cards', () => {
  const card = (bus: string, part: number) => ({
    'Device Name': 'AMD Instinct MI300X',
    'Unique ID': `0xc7a1b2c3d4${bus}f${part}`,
    'VRAM Total Memory (B)': '206141652992',
    'PCI Bus': `0000:${bus}:00.${part}`,
    'Compute Partition': 'QPX',
  })
  const cards = ['05', '26'].flatMap((bus) => [0, 1, 2, 3].map((part) => card(bus, part)))
  const { accelerators } = parseAmd({ rocm: [JSON.stringify(Object.fromEntries(cards.map((one, n) => [`card${n}`, one])))] })
  expect(accelerators.map((one) => [one.pciAddress, one.memoryTotal, one.partitions.length])).toEqual([
    ['0000:05:00.0', 206141652992, 4],
    ['0000:26:00.0', 206141652992, 4],
  ])
})

it('reports that rocm-smi found no devices', () => {
  expect(parseAmd({ rocm: ['WARNING: No JSON data to report\n'] })).toMatchObject({
    accelerators: [],
    failure: 'WARNING: No JSON data to report',
  })
})

it('never reports a Hygon DCU as an AMD GPU', () => {
  const { accelerators, foreign } = parseAmd({ rocm: [readFixture('other/hygon-dcu/hy-smi.json')] })
  expect(foreign).toBe('Hygon DCU')
  expect(accelerators).toEqual([
    expect.objectContaining({
      deviceType: 'other',
      vendor: 'hygon',
      model: 'K100_AI',
      memoryTotal: 65520 * MIB,
      utilization: 3,
      temperature: 44,
    }),
  ])
})

it.each([
  'ERROR: amdgpu driver not loaded',
  'Traceback (most recent call last):\nModuleNotFoundError: No module named yaml',
  '{"error_code": -1, "message": "driver not loaded"}',
  '[]',
  '{"gpu_data": []}',
  '{"gpu_data": "N/A"}',
])('finds no device in %j', (text) => {
  const { accelerators, failure } = parseAmd({ static: text, list: text, metric: text })
  expect(accelerators).toEqual([])
  expect(failure).toBeTruthy()
})
