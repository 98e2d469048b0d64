import { expect, it } from 'vitest'
import { readProfileFile } from '../test/node.ts'
import { parseNvidia, parseThead } from './index.ts'

const MIB = 1024 ** 2
const table = readProfileFile('ppuzw810ex16/ppu-smi/_.txt')
const query = readProfileFile('ppuzw810ex16/ppu-smi/-q.txt')
const list = readProfileFile('ppuzw810ex16/ppu-smi/-L.txt')

it('parses the table only: one leading space, shifted names, PCI domains', () => {
  const { accelerators, version, toolkits } = parseThead({ table })
  expect({ version, toolkits }).toEqual({ version: '1.28', toolkits: { 'thead driver': '2.1.0-dbda51', hggc: '13.0' } })
  expect(accelerators).toHaveLength(16)
  expect(accelerators[15]).toMatchObject({
    deviceType: 'thead_npu',
    model: 'PPU-ZW810E',
    index: 15,
    pciAddress: '0001:c9:00.0',
    memoryTotal: 98304 * MIB,
    memoryUsed: MIB,
    temperature: 32,
    power: 89,
    utilization: 0,
    health: 'ok',
  })
})

it('reports HGGC as unknown on a host without SDK', () => {
  expect(parseThead({ table: table.replace('HGGC Version: 13.0', 'HGGC Version: N/A ') }).toolkits).toEqual({
    'thead driver': '2.1.0-dbda51',
  })
})

it('parses CSV with header and units', () => {
  const csv = readProfileFile(
    'ppuzw810ex16/ppu-smi/--query-ppu=index,name,serial,uuid,pci.bus_id,driver_version,memory.total,memory.used_--format=csv.txt',
  )
  expect(parseThead({ csv: [csv] }).accelerators[9]).toMatchObject({
    deviceType: 'thead_npu',
    vendor: 'thead',
    index: 9,
    memoryUsed: 91452 * MIB,
    driverVersion: '2.1.0-dbda51',
  })
  expect(
    parseThead({
      csv: [csv.replace('index, name, serial, uuid, pci.bus_id', 'index, ppu_name, ppu_serial, ppu_uuid, ppu_bus_id')],
    }).accelerators[9],
  ).toMatchObject({ pciAddress: '0001:0d:00.0', model: 'PPU-ZW810E' })
})

it('merges -q and -L: prefers the longer name, parses MIG devices', () => {
  const mig = list.replace(/(PPU 1: .*)\n/, '$1\n    MIG g1.c1.i1, Device 0 (UUID: MIG-79c62632-04cc-574b-af7b-cb2e307121c8)\n')
  const { accelerators } = parseThead({ query, list: mig })
  expect(accelerators).toHaveLength(16)
  expect(accelerators[1]).toMatchObject({
    model: 'PPU-ZW810E',
    computeCapability: '8.0',
    firmwareVersion: '1.4.2-3f0a1c',
    slot: '1',
    utilization: 0,
    eccMode: 'enabled',
  })
  expect(accelerators[1]?.partitions).toEqual([
    {
      kind: 'mig',
      uuid: 'MIG-79c62632-04cc-574b-af7b-cb2e307121c8',
      profile: 'g1.c1.i1',
      index: 0,
      parentUuid: accelerators[1]?.uuid,
      memoryTotal: null,
    },
  ])
  expect(accelerators[12]?.eccErrors).toEqual({
    correctedVolatile: 0,
    uncorrectedVolatile: 0,
    correctedAggregate: 4,
    uncorrectedAggregate: 0,
  })
})

it('is recognized under the name nvidia-smi in every output', () => {
  for (const texts of [
    { table },
    { xml: query },
    { list },
    { list: list.replaceAll('PPU 0: PPU', 'GPU 0: PPU-ZW810E') },
    { csv: ['0, PPU-ZW810E, GPU-019e, 98304'] },
    { csv: ['0, alixpu, GPU-019e, 40960'] },
  ])
    expect(parseNvidia(texts)).toMatchObject({ foreign: 'T-Head PPU-SMI', accelerators: [] })
})

it('reports that the driver is not loaded', () => {
  expect(parseThead({ query: 'Failed to open /dev/alixpu\n' })).toMatchObject({
    accelerators: [],
    failure: 'Failed to open /dev/alixpu',
  })
})
