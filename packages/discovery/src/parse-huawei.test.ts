import { expect, it } from 'vitest'
import { readFixture, readProfileFile } from '../test/node.ts'
import { parseHuawei } from './index.ts'

const MIB = 1024 ** 2
const brief = (info: string) =>
  parseHuawei({ info }).accelerators.map((device) => [
    device.model,
    device.slot,
    device.index,
    device.pciAddress,
    device.memoryTotal,
    device.power,
    device.temperature,
    device.utilization,
    device.health,
  ])

it('parses A3: two chips per card, card power on the first chip only, part number in the model', () => {
  const boards = ['0_0', '0_1', '1_0', '1_1', '0', '1'].map((name) => readFixture(`huawei/25.2-a3/board_${name}.txt`))
  const { accelerators, version, warnings } = parseHuawei({
    info: readFixture('huawei/25.2-a3/info.txt'),
    mapping: readFixture('huawei/25.2-a3/info_-m.txt'),
    list: readFixture('huawei/25.2-a3/info_-l.txt'),
    boards,
  })
  expect({ version, warnings }).toEqual({ version: '25.2.0', warnings: [] })
  expect(accelerators).toHaveLength(4)
  expect(accelerators.map((device) => [device.slot, device.index, device.pciAddress, device.power, device.temperature])).toEqual([
    ['0/0', 0, '0000:9d:00.0', 170.7, 49],
    ['0/1', 1, '0000:9f:00.0', null, 50],
    ['1/0', 2, '0000:99:00.0', 171.7, 51],
    ['1/1', 3, '0000:9b:00.0', null, 52],
  ])
  expect(accelerators[1]).toMatchObject({
    model: 'Ascend910_9392',
    uuid: 'A1B201D4 02103514 1711E613 6DA7040A 00102001',
    serial: 'A3SN0000',
    driverVersion: '25.2.0',
    firmwareVersion: '7.7.0.1.231',
    memoryTotal: 65536 * MIB,
    memoryUsed: 61625 * MIB,
  })
})

it('parses 950: separate cells for ID and name, a board without PCI address, noise before the table', () => {
  const { accelerators } = parseHuawei({
    info: readFixture('huawei/25.7-950/info.txt'),
    list: readFixture('huawei/25.7-950/info_-l.txt'),
  })
  expect(
    accelerators.map((device) => [
      device.model,
      device.slot,
      device.pciAddress,
      device.memoryTotal,
      device.utilization,
      device.health,
      device.healthReason,
      device.serial,
    ]),
  ).toEqual([
    ['Ascend950PR', '0/0', '0000:71:00.0', 114688 * MIB, 100, 'critical', 'health: Alarm', 'SN950A'],
    ['Ascend950PR', '3/0', null, 131072 * MIB, 7, 'ok', null, 'SN950B'],
  ])
})

it('parses 910A: uses HBM instead of DDR', () => {
  expect(brief(readFixture('huawei/22.0-910a/info.txt'))).toEqual([
    ['Ascend910A', '0/0', 0, '0000:c1:00.0', 32768 * MIB, 68.8, 37, 0, 'ok'],
    ['Ascend910A', '1/0', 1, '0000:81:00.0', 32768 * MIB, 66.1, 36, 0, 'warning'],
  ])
})

it('parses 310P Duo: DDR, no power, two chips at one PCI address', () => {
  expect(brief(readFixture('huawei/23.0-310p-duo/info.txt'))).toEqual([
    ['Ascend310P3', '32/0', 0, '0000:01:00.0', 44280 * MIB, null, 45, 0, 'ok'],
    ['Ascend310P3', '32/1', 1, '0000:01:00.0', 43693 * MIB, null, 44, 3, 'ok'],
  ])
})

it('parses 310 of release 20', () => {
  expect(brief(readFixture('huawei/20.2-310/info.txt'))).toEqual([
    ['Ascend310', '0/0', 0, '0000:06:00.0', 8192 * MIB, 12.8, 46, 0, 'ok'],
    ['Ascend310', '0/1', 1, '0000:07:00.0', 8192 * MIB, 12.8, 47, 0, 'ok'],
  ])
})

it('ignores the process table', () => {
  const info = readProfileFile('ascend910b3x8/npu-smi/info.txt')
  expect(info).toContain('| 990711 ')
  expect(parseHuawei({ info }).accelerators).toHaveLength(8)
})

it('keeps a chip without memory values', () => {
  const info = readProfileFile('ascend910b3x8/npu-smi/info.txt').replace(
    /(\| 0 +\| 0000:\S+ +\|).*\|/,
    '$1 NA    NA / NA    NA / NA |',
  )
  const { accelerators } = parseHuawei({ info })
  expect(accelerators).toHaveLength(8)
  expect(accelerators[0]).toMatchObject({ slot: '0/0', memoryTotal: null, memoryUsed: null, utilization: null })
})

it('keeps a chip without index', () => {
  const info = readFixture('huawei/25.2-a3/info.txt').replace(/\| 1 {5}1 /, '| 1     NA')
  expect(parseHuawei({ info }).accelerators.map((device) => device.slot)).toEqual(['0/0', '0/1', '1/0', '1/1'])
})

it('reports busy when another container uses the cards', () => {
  expect(parseHuawei({ info: readFixture('huawei/busy/info.txt') })).toMatchObject({
    accelerators: [],
    failure: 'busy: dcmi model initialized failed, because the device is used. ret is -8020',
  })
})

it('parses error counts with the chip ID at the END of the block, and ignores the MCU', () => {
  const chip = (id: number, single: number) =>
    `\tHBM Single Bit Error Count  : ${single}\n\tHBM Double Bit Error Count  : 0\n\tChip ID  : ${id}\n\n`
  const text = `\tNPU ID  : 0\n\tChip Count  : 2\n\n${chip(0, 4)}${chip(1, 9)}`
  const { accelerators } = parseHuawei({ info: readFixture('huawei/25.2-a3/info.txt'), details: [text] })
  expect(accelerators.map((device) => device.eccErrors?.correctedVolatile ?? null)).toEqual([4, 9, null, null])
})

it('parses blocks with the chip ID first, as in `-t common`', () => {
  const text =
    '\tNPU ID  : 0\n\tChip Count  : 1\n\n\tChip ID  : 1\n\tMemory Usage Rate(%)  : 3\n\tNPU Real-time Power(W)  : 88.8\n\n\tChip Name  : mcu\n\tTemperature(C)  : 40\n\tNPU Real-time Power(W)  : 99\n'
  const { accelerators } = parseHuawei({ info: readFixture('huawei/25.2-a3/info.txt'), details: [text] })
  expect(accelerators[1]?.power).toBe(88.8)
})

it('parses the partitions of a chip', () => {
  const { accelerators } = parseHuawei({
    info: readProfileFile('ascend910b3x8/npu-smi/info.txt'),
    vnpus: [{ card: '3', chip: '0', text: readFixture('huawei/vnpu/info_-t_info-vnpu.txt') }],
  })
  expect(accelerators[3]?.partitions).toEqual([
    { kind: 'vnpu', uuid: null, profile: 'vir05_1c_16g', index: 100, parentUuid: null, memoryTotal: 16 * 1024 * MIB },
  ])
})

it('falls back to `info -m` without the table', () => {
  const { accelerators } = parseHuawei({ mapping: readProfileFile('ascend910b3x8/npu-smi/info_-m.txt') })
  expect(accelerators.map((device) => [device.model, device.slot, device.index])[7]).toEqual(['Ascend910B3', '7/0', 7])
  expect(accelerators).toHaveLength(8)
})

it('warns of a card that is missing in the table', () => {
  const info = readProfileFile('ascend910b3x8/npu-smi/info.txt').replace(/\| 7 {5}910B3.*\n.*\n/, '')
  expect(parseHuawei({ info, list: readProfileFile('ascend910b3x8/npu-smi/info_-l.txt') }).warnings).toEqual([
    'npu-smi: reports 8 cards but describes 7',
  ])
})
