import type { Accelerator, HostFacts } from './schema.ts'
import { parseBytes, parseIdentity, parseText } from './text.ts'

/**
 * What the amdgpu driver reports in sysfs about a device, for nodes without a tool of AMD: memory in bytes, the unique ID in hexadecimal,
 * and the partition modes. An in-tree driver has no version of its own; its version is that of the kernel.
 */
export function readAmdSysfs(files: Map<string, string>, address: string, host: HostFacts): Partial<Accelerator> {
  const get = (name: string) => files.get(`/sys/bus/pci/devices/${address}/${name}`)?.trim() ?? byEnd(files, `${address}/${name}`)
  const modes = ['compute', 'memory'].map((kind) => parseText(get(`current_${kind}_partition`))).filter((mode) => mode !== null)
  return {
    uuid: parseIdentity(get('unique_id')),
    memoryTotal: parseBytes(get('mem_info_vram_total'), 'B'),
    memoryUsed: parseBytes(get('mem_info_vram_used'), 'B'),
    partitionMode: modes.join('/') || null,
    driverVersion: host.toolkits['amdgpu driver'] ?? null,
  }
}

const byEnd = (files: Map<string, string>, end: string) => [...files].find(([path]) => path.endsWith(end))?.[1].trim()
