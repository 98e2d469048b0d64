import { findLink, parseKeyValues } from './host-evidence.ts'

/** DMI product names of hypervisors. */
const HYPERVISORS: [RegExp, string][] = [
  [/vmware/i, 'vmware'],
  [/virtualbox/i, 'virtualbox'],
  [/microsoft corporation virtual/i, 'hyperv'],
  [/\bxen\b/i, 'xen'],
  [/amazon ec2(?!.*metal)/i, 'kvm'],
  [/google compute engine/i, 'kvm'],
  [/alibaba cloud ecs/i, 'kvm'],
  [/kvm|qemu|openstack|bochs|red hat|nutanix ahv/i, 'kvm'],
]

export function detectVirtualization(files: Map<string, string>, links: Map<string, string>, product: string): string | null {
  const container = files.get('/run/systemd/container')?.trim()
  if (container) return container
  if (findLink(links, '/.dockerenv') !== undefined || findLink(links, '/run/.containerenv') !== undefined) return 'container'
  return (
    HYPERVISORS.find(([pattern]) => pattern.test(product))?.[1] ??
    (files.has('/sys/hypervisor/type') ? (files.get('/sys/hypervisor/type')?.trim() ?? null) : null)
  )
}

/** Installed versions of toolkits and kernel drivers. */
export function detectToolkits(files: Map<string, string>, links: Map<string, string>, nvcc: string): Record<string, string> {
  const found: Record<string, string> = {}
  const put = (name: string, version: string | null | undefined) => {
    if (version && !found[name]) found[name] = version
  }
  const match = (end: RegExp) => [...files].filter(([path]) => end.test(path)).map(([, text]) => text)
  for (const text of match(/\/usr\/local\/cuda[^/]*\/version\.json$/))
    put('cuda', /"cuda"\s*:\s*\{[^}]*"version"\s*:\s*"([\d.]+)"/.exec(text)?.[1])
  for (const text of match(/\/usr\/local\/cuda\/version\.txt$/)) put('cuda', /CUDA Version ([\d.]+)/.exec(text)?.[1])
  put('cuda', /release ([\d.]+)/.exec(nvcc)?.[1])
  for (const text of match(/\/opt\/rocm[^/]*\/\.info\/version$/)) put('rocm', /^(\d[\d.]*)/.exec(text.trim())?.[1])
  for (const text of match(/ascend_toolkit_install\.info$/)) put('cann', parseKeyValues(text).version)
  for (const text of match(/Ascend\/driver\/version\.info$/)) put('ascend driver', parseKeyValues(text).Version)
  for (const text of match(/Ascend\/firmware\/version\.info$/)) put('ascend firmware', parseKeyValues(text).Version)
  for (const text of match(/\/PPU_SDK\/(version|VERSION)(\.\w+)?$/)) put('sail sdk', /\d+\.\d[\w.-]*/.exec(text)?.[0])
  put(
    'oneapi',
    /\d+(\.\d+)+/.exec(
      findLink(links, '/opt/intel/oneapi/compiler/latest') ?? findLink(links, '/opt/intel/oneapi/latest') ?? '',
    )?.[0],
  )
  put(
    'nvidia driver',
    match(/\/proc\/driver\/nvidia\/version$/)
      .map((text) => /Kernel Module(?: for \S+)?\s+(\d[\d.]+)/.exec(text)?.[1])
      .find((version) => version),
  )
  for (const [path, text] of files) {
    const driver = /\/sys\/module\/(nvidia|amdgpu|i915|xe|alixpu|mlx5_core)\/version$/.exec(path)?.[1]
    if (driver) put(`${driver} driver`, text.trim())
  }
  return found
}
