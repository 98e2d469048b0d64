import fs from 'node:fs'
import path from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { folder, plant } from '../../test/tree.ts'
import { acceleratorReader } from './accelerators.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.resetModules()
})

const pci = (address: string, vendor: string, device: string, classId: string) => ({
  [`/sys/bus/pci/devices/${address}/vendor`]: `0x${vendor}\n`,
  [`/sys/bus/pci/devices/${address}/device`]: `0x${device}\n`,
  [`/sys/bus/pci/devices/${address}/class`]: `0x${classId}00\n`,
})
const row = (index: number, ecc = '0, 0') =>
  `${index}, NVIDIA H100 80GB HBM3, GPU-${index}0000000-0000-4000-8000-000000000000, 165012300000${index}, 00000000:${index + 1}B:00.0, 81559, 1024, 550.54, 96.00, 41, 100.5, 700.00, 37, Enabled, Disabled, ${ecc}`

/** A reader whose only program is `tool`, which prints what `script` says. */
async function reader(root: string, tool: string, script: string) {
  const bin = folder()
  fs.writeFileSync(path.join(bin, tool), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
  // What was found is remembered, so that each test needs the module anew.
  vi.resetModules()
  return (await import('./accelerators.ts')).acceleratorReader(root)
}

test('devices as the tool tells them, and one that only the bus knows is lost', async () => {
  const root = plant(folder(), {
    ...pci('0000:1b:00.0', '10de', '2330', '0302'),
    ...pci('0000:2b:00.0', '10de', '2330', '0302'),
    ...pci('0000:3b:00.0', '10de', '2330', '0302'),
    ...pci('0000:00:1f.0', '8086', '0001', '0601'),
  })
  const read = await reader(root, 'nvidia-smi', `printf '%s\\n' '${row(0)}' '${row(1, '7, 2')}'`)
  expect(await read()).toMatchObject([
    {
      uuid: expect.stringContaining('GPU-0'),
      health: 'ok',
      utilization_percent: 37,
      memory_total_bytes: 81559 * 1024 ** 2,
      ecc_uncorrected: 0,
    },
    { health: 'warning', ecc_corrected: 7, ecc_uncorrected: 2, temperature_celsius: 41 },
    { pci_address: '0000:3b:00.0', health: 'lost', uuid: null, utilization_percent: null },
  ])
})

test('a driver that does not know the counters of ECC is asked again without', async () => {
  const read = await reader(
    folder(),
    'nvidia-smi',
    `case "$1" in *ecc.errors*) echo 'Field "ecc.errors.corrected.volatile.total" is not a valid field to query.'; exit 2;; esac
printf '%s\\n' '${row(0).replace(/, 0, 0$/, '')}'`,
  )
  expect(await read()).toMatchObject([{ health: 'ok', ecc_corrected: null, utilization_percent: 37 }])
})

test('a broken tool leaves devices of which nothing is known', async () => {
  const root = plant(folder(), pci('0000:1b:00.0', '10de', '2330', '0302'))
  const read = await reader(root, 'nvidia-smi', 'echo "Failed to initialize NVML: Driver/library version mismatch"; exit 18')
  expect(await read()).toMatchObject([
    { vendor: 'nvidia', health: 'unknown', pci_address: '0000:1b:00.0', model: expect.stringContaining('H100') },
  ])
})

test('a node without accelerators has none to tell of', async () => {
  expect(await acceleratorReader(folder())()).toBeNull()
})

test('a tool is asked once a minute, however often one beats', async () => {
  const calls = path.join(folder(), 'calls')
  const read = await reader(folder(), 'nvidia-smi', `echo x >> ${calls}; printf '%s\\n' '${row(0)}'`)
  await Promise.all([read(), read()])
  await read()
  expect(fs.readFileSync(calls, 'utf8')).toBe('x\n')
})
