import type { DeviceType } from './schema.ts'

/** Accelerators by PCI vendor ID, with their PCI classes. Bridges, audio functions and NICs are excluded. */
const VENDORS: Record<string, { deviceType: DeviceType; vendor: string; classes: RegExp; tool?: string }> = {
  '10de': { deviceType: 'nvidia_gpu', vendor: 'nvidia', classes: /^(0300|0302|0380)/, tool: 'nvidia-smi' },
  '1002': { deviceType: 'amd_gpu', vendor: 'amd', classes: /^(0300|0302|0380|1200)/, tool: 'amd-smi' },
  '8086': { deviceType: 'intel_gpu', vendor: 'intel', classes: /^(0300|0302|0380)/, tool: 'xpu-smi' },
  '19e5': { deviceType: 'huawei_npu', vendor: 'huawei', classes: /^12/, tool: 'npu-smi' },
  '1ded': { deviceType: 'thead_npu', vendor: 'thead', classes: /^(12|0300|0302|0380)/, tool: 'ppu-smi' },
  '1da3': { deviceType: 'other', vendor: 'habana', classes: /^12/ },
  cabc: { deviceType: 'other', vendor: 'cambricon', classes: /^(12|03|0b40)/ },
  '1e3e': { deviceType: 'other', vendor: 'iluvatar', classes: /^(12|03|0b40)/ },
  '1ed5': { deviceType: 'other', vendor: 'moorethreads', classes: /^(12|03|0b40)/ },
  '1d94': { deviceType: 'other', vendor: 'hygon', classes: /^(12|03|0b40)/ },
  '9999': { deviceType: 'other', vendor: 'metax', classes: /^(12|03|0b40)/ },
  '1d22': { deviceType: 'other', vendor: 'kunlunxin', classes: /^(12|03|0b40)/ },
  '1e36': { deviceType: 'other', vendor: 'enflame', classes: /^(12|03|0b40)/ },
  '1ee0': { deviceType: 'other', vendor: 'biren', classes: /^(12|03|0b40)/ },
  '1e52': { deviceType: 'other', vendor: 'tenstorrent', classes: /^12/ },
  '1014': { deviceType: 'other', vendor: 'ibm', classes: /^12/ },
}

/** Names of all known accelerator vendors, sorted: the values of `Accelerator.vendor`. */
export const VENDOR_NAMES: readonly string[] = [...new Set(Object.values(VENDORS).map(({ vendor }) => vendor))].sort()

/** Model names by `vendor:device`, for devices that no tool reports. */
const MODELS: Record<string, string> = {
  '10de:1db4': 'NVIDIA V100 PCIe 16GB',
  '10de:1db6': 'NVIDIA V100 PCIe 32GB',
  '10de:1db5': 'NVIDIA V100 SXM2 32GB',
  '10de:1eb8': 'NVIDIA T4',
  '10de:20b0': 'NVIDIA A100 SXM4 40GB',
  '10de:20b2': 'NVIDIA A100 SXM4 80GB',
  '10de:20b5': 'NVIDIA A100 PCIe 80GB',
  '10de:20f1': 'NVIDIA A100 PCIe 40GB',
  '10de:20b7': 'NVIDIA A30',
  '10de:2235': 'NVIDIA A40',
  '10de:2236': 'NVIDIA A10',
  '10de:2237': 'NVIDIA A10G',
  '10de:26b9': 'NVIDIA L40S',
  '10de:26b5': 'NVIDIA L40',
  '10de:27b8': 'NVIDIA L4',
  '10de:2330': 'NVIDIA H100 80GB HBM3',
  '10de:2331': 'NVIDIA H100 PCIe',
  '10de:2321': 'NVIDIA H100 NVL',
  '10de:2335': 'NVIDIA H200',
  '10de:233b': 'NVIDIA H200 NVL',
  '10de:2342': 'NVIDIA GH200',
  '10de:2324': 'NVIDIA H800',
  '10de:2329': 'NVIDIA H20',
  '10de:2901': 'NVIDIA B200',
  '10de:2941': 'NVIDIA GB200',
  '10de:31c2': 'NVIDIA GB300',
  '10de:2e12': 'NVIDIA GB10',
  '1002:740c': 'AMD Instinct MI250X',
  '1002:7408': 'AMD Instinct MI250X',
  '1002:740f': 'AMD Instinct MI210',
  '1002:738c': 'AMD Instinct MI100',
  '1002:74a0': 'AMD Instinct MI300A',
  '1002:74a1': 'AMD Instinct MI300X',
  '1002:74a2': 'AMD Instinct MI308X',
  '1002:74a5': 'AMD Instinct MI325X',
  '1002:75a0': 'AMD Instinct MI350X',
  '1002:75a3': 'AMD Instinct MI355X',
  '8086:0bd5': 'Intel Data Center GPU Max 1550',
  '8086:0bd6': 'Intel Data Center GPU Max 1550',
  '8086:0bd9': 'Intel Data Center GPU Max 1100',
  '8086:0bda': 'Intel Data Center GPU Max 1100',
  '8086:0bdb': 'Intel Data Center GPU Max 1100',
  '8086:56c0': 'Intel Data Center GPU Flex 170',
  '8086:56c1': 'Intel Data Center GPU Flex 140',
  '8086:e211': 'Intel Arc Pro B60',
  '8086:e20b': 'Intel Arc B580',
  '19e5:d100': 'Ascend310',
  '19e5:d500': 'Ascend310P',
  '19e5:d801': 'Ascend910A',
  '19e5:d802': 'Ascend910B',
  '19e5:d803': 'Ascend910C (A3)',
  '1da3:1020': 'Habana Gaudi2',
  '1da3:1021': 'Habana Gaudi2E',
  '1da3:1060': 'Habana Gaudi3',
  '1014:06a7': 'IBM Spyre',
}

/** Integrated graphics of AMD processors, which are not accelerators. */
const AMD_INTEGRATED = new Set([
  '13c0',
  '15bf',
  '15c8',
  '15d8',
  '15dd',
  '15e7',
  '1636',
  '1638',
  '164c',
  '164d',
  '164e',
  '1681',
  '1900',
  '1901',
  '150e',
  '1586',
])

/** Identifies a PCI device as an accelerator by vendor and class; null for other devices. IDs are in sysfs format without 0x. */
export function pciAccelerator(device: { address: string; vendorId: string; deviceId: string; classId: string }) {
  const vendor = VENDORS[device.vendorId]
  if (!vendor?.classes.test(device.classId)) return null
  if (device.vendorId === '8086' && device.address.startsWith('0000:00:')) return null
  if (device.vendorId === '1002' && AMD_INTEGRATED.has(device.deviceId)) return null
  const named = MODELS[`${device.vendorId}:${device.deviceId}`]
  const model = named ?? `${vendor.vendor} ${device.vendorId}:${device.deviceId}`
  return { deviceType: vendor.deviceType, vendor: vendor.vendor, tool: vendor.tool ?? null, model, isNamed: named !== undefined }
}

/** True for drivers that reserve a device for a virtual machine. The host's vendor tools cannot see such a device. */
export const isPassthroughDriver = (driver: string | null): boolean =>
  driver !== null && /^(vfio|pci-stub|xen-pciback)/.test(driver)
