import type { Accelerator, HostFacts } from './schema.ts'
import { parseCount } from './text.ts'

/**
 * Adds the device files of MIG devices: that of the GPU, and those of the capabilities to use its GPU instance and compute instance.
 * Source: /proc/driver/nvidia/capabilities, which has a file for each instance that exists, with the minor number of its device file.
 * mig-minors lists the same numbers, for all instances that could exist.
 */
export function addMigFiles(
  device: Accelerator,
  { pci }: Pick<HostFacts, 'pci'>,
  files: ReadonlyMap<string, string>,
): Accelerator {
  const minor = pci.find(({ address }) => address === device.pciAddress)?.deviceMinor ?? null
  if (device.deviceType !== 'nvidia_gpu' || minor === null || device.partitions.length === 0) return device
  const capabilities = new Map<string, number>()
  for (const [path, text] of files) {
    const [, gpu, instance] = /\/nvidia\/capabilities\/gpu(\d+)\/mig\/(gi\d+(?:\/ci\d+)?)\/access$/.exec(path) ?? []
    const number = parseCount(/^DeviceFileMinor:\s*(\d+)/m.exec(text)?.[1])
    if (Number(gpu) === minor && instance !== undefined && number !== null) capabilities.set(instance, number)
  }
  const partitions = device.partitions.map((partition) => {
    const [gpuInstance = ''] = partition.instance?.split('/') ?? []
    const numbers = [capabilities.get(gpuInstance), capabilities.get(partition.instance ?? '')]
    if (numbers.includes(undefined)) return partition
    const caps = numbers.map((number) => `/dev/nvidia-caps/nvidia-cap${number}`)
    return { ...partition, deviceFiles: [`/dev/nvidia${minor}`, ...caps] }
  })
  return { ...device, partitions }
}
