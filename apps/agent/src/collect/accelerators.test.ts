import fs from 'node:fs'
import path from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { createTempDir, writeFiles } from '../../test/temp-files.ts'
import { createAcceleratorReader } from './accelerators.ts'

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

/** Binds the PCI device to a kernel driver. */
function bindDriver(root: string, address: string, driver: string) {
  fs.symlinkSync(`../../../bus/pci/drivers/${driver}`, `${root}/sys/bus/pci/devices/${address}/driver`)
}

/** Creates a reader with one fake tool that runs `script`. */
async function createReader(root: string, tool: string, script: string) {
  const bin = createTempDir()
  fs.writeFileSync(path.join(bin, tool), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
  // Reload the module, which caches program paths.
  vi.resetModules()
  return (await import('./accelerators.ts')).createAcceleratorReader(root)
}

test('reads devices from the tool, and marks one that only the PCI bus shows as lost', async () => {
  const root = writeFiles(createTempDir(), {
    ...pci('0000:1b:00.0', '10de', '2330', '0302'),
    ...pci('0000:2b:00.0', '10de', '2330', '0302'),
    ...pci('0000:3b:00.0', '10de', '2330', '0302'),
    ...pci('0000:00:1f.0', '8086', '0001', '0601'),
  })
  bindDriver(root, '0000:3b:00.0', 'nvidia')
  const read = await createReader(root, 'nvidia-smi', `printf '%s\\n' '${row(0)}' '${row(1, '7, 2')}'`)
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

test('repeats the query without ECC counters when the driver rejects them', async () => {
  const read = await createReader(
    createTempDir(),
    'nvidia-smi',
    `case "$1" in *ecc.errors*) echo 'Field "ecc.errors.corrected.volatile.total" is not a valid field to query.'; exit 2;; esac
printf '%s\\n' '${row(0).replace(/, 0, 0$/, '')}'`,
  )
  expect(await read()).toMatchObject([{ health: 'ok', ecc_corrected: null, utilization_percent: 37 }])
})

test('reports devices with unknown health when the tool fails', async () => {
  const root = writeFiles(createTempDir(), pci('0000:1b:00.0', '10de', '2330', '0302'))
  const read = await createReader(
    root,
    'nvidia-smi',
    'echo "Failed to initialize NVML: Driver/library version mismatch"; exit 18',
  )
  expect(await read()).toMatchObject([
    { vendor: 'nvidia', health: 'unknown', pci_address: '0000:1b:00.0', model: expect.stringContaining('H100') },
  ])
})

test('returns null on a node without accelerators', async () => {
  expect(await createAcceleratorReader(createTempDir())()).toBeNull()
})

test('queries the tool once a minute, regardless of the heartbeat interval', async () => {
  const calls = path.join(createTempDir(), 'calls')
  const read = await createReader(createTempDir(), 'nvidia-smi', `echo x >> ${calls}; printf '%s\\n' '${row(0)}'`)
  await Promise.all([read(), read()])
  await read()
  expect(fs.readFileSync(calls, 'utf8')).toBe('x\n')
})

test.each([
  ['vfio-pci', 'passed through to a virtual machine (vfio-pci)'],
  [null, 'no driver is bound to the device'],
])('a device with the driver %s is not lost', async (driver, health_reason) => {
  const root = writeFiles(createTempDir(), {
    ...pci('0000:1b:00.0', '10de', '2330', '0302'),
    ...pci('0000:3b:00.0', '10de', '2330', '0302'),
  })
  bindDriver(root, '0000:1b:00.0', 'nvidia')
  if (driver) bindDriver(root, '0000:3b:00.0', driver)
  const read = await createReader(root, 'nvidia-smi', `printf '%s\\n' '${row(0)}'`)
  expect(await read()).toMatchObject([
    { health: 'ok' },
    { pci_address: '0000:3b:00.0', health: 'unknown', health_reason, model: expect.stringContaining('H100') },
  ])
})

test('npu-smi gets the library path of the Ascend driver', async () => {
  const environment = path.join(createTempDir(), 'environment')
  vi.stubEnv('LD_LIBRARY_PATH', '/opt/site')
  const read = await createReader(createTempDir(), 'npu-smi', `echo "$LD_LIBRARY_PATH" > ${environment}`)
  await read()
  const lib = '/usr/local/Ascend/driver/lib64'
  expect(fs.readFileSync(environment, 'utf8')).toBe(`/opt/site:${lib}:${lib}/driver:${lib}/common\n`)
})
