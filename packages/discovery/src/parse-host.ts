import type { Frame } from './frames.ts'
import { cpu } from './host-cpu.ts'
import { disks, infiniband, mounts, nics, pci, primaryAddress } from './host-devices.ts'
import { evidence, pairs, sections } from './host-evidence.ts'
import { toolkits, virtualization } from './host-toolkits.ts'
import type { HostFacts } from './schema.ts'
import { count, identity, known, number, pciAddress } from './text.ts'

/** Facts of the host out of the probe's frames. Each is null where the node did not tell. */
export function parseHost(frames: Frame[]): HostFacts {
  const { files, links, frame } = evidence(frames)
  const file = (path: string) => files.get(path)?.trim() || null
  const system = sections(frames.find((one) => one.name === 'tool system')?.body ?? '')
  const os = pairs(files.get('/etc/os-release') ?? files.get('/usr/lib/os-release') ?? '')
  const hostname = file('/proc/sys/kernel/hostname')
  const dmi = (name: string) => known(byEnd(files, `/sys/class/dmi/id/${name}`))
  const vendor = dmi('sys_vendor')
  const product = dmi('product_name')
  const memory = (label: string) => {
    const kib = count(new RegExp(`^${label}:\\s*(\\d+)`, 'm').exec(frame('meminfo'))?.[1])
    return kib === null ? null : kib * 1024
  }
  const [pythonPath = null, pythonVersion = null] = /^(\S+) Python (\d[\w.]*)/m.exec(system.python ?? '')?.slice(1) ?? []
  const arch = file('/proc/sys/kernel/arch') ?? (frame('uname').trim() || null)
  return {
    hostname,
    fqdn: fqdn(hostname, system.hosts ?? ''),
    arch,
    os: { id: os.ID ?? null, versionId: os.VERSION_ID ?? null, name: os.PRETTY_NAME ?? os.NAME ?? null, family: family(os) },
    kernel: file('/proc/sys/kernel/osrelease'),
    machineId: file('/etc/machine-id'),
    bootId: file('/proc/sys/kernel/random/boot_id'),
    uptimeSeconds: number(file('/proc/uptime')?.split(' ')[0]),
    cpu: cpu(frame('cpuinfo'), files),
    memoryBytes: memory('MemTotal'),
    swapBytes: memory('SwapTotal'),
    numaNodes: [...files.keys()].filter((path) => /\/node\/node\d+\/cpulist$/.test(path)).length || null,
    disks: disks(files),
    mounts: mounts(system),
    nics: nics(files, links, system.addresses ?? ''),
    primaryAddress: primaryAddress(files.get('/proc/net/route') ?? '', system.addresses ?? ''),
    infiniband: infiniband(files, links),
    pci: pci(files, links),
    python: { path: pythonPath, version: pythonVersion },
    dmi: {
      vendor,
      product,
      serial: identity(dmi('product_serial')) ?? identity(dmi('chassis_serial')),
      uuid: identity(dmi('product_uuid')),
      board: [dmi('board_vendor'), dmi('board_name')].filter((part) => part !== null).join(' ') || null,
      bios: [dmi('bios_version'), dmi('bios_date')].filter((part) => part !== null).join(' ') || null,
    },
    virtualization: virtualization(files, links, `${vendor ?? ''} ${product ?? ''}`),
    toolkits: toolkits(files, links, system.nvcc ?? ''),
  }
}

const byEnd = (files: Map<string, string>, end: string) => [...files].find(([path]) => path.endsWith(end))?.[1].trim() ?? null

function family(os: Record<string, string>): string | null {
  const ids = `${os.ID ?? ''} ${os.ID_LIKE ?? ''}`.toLowerCase()
  if (/debian|ubuntu/.test(ids)) return 'debian'
  if (/rhel|fedora|centos|rocky|almalinux|openeuler|anolis|alinux|kylin|amzn/.test(ids)) return 'redhat'
  if (/suse|sles/.test(ids)) return 'suse'
  return os.ID?.toLowerCase() ?? null
}

/** The full name as /etc/hosts gives it, which asks no name server. */
function fqdn(hostname: string | null, hosts: string): string | null {
  if (!hostname || hostname.includes('.')) return hostname
  const names = hosts
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1))
    .filter((row) => row.includes(hostname))
    .flat()
  return (
    names.find((name) => name.startsWith(`${hostname}.`)) ??
    names.find((name) => name.includes('.') && !name.startsWith('localhost')) ??
    hostname
  )
}

/** What the NVIDIA driver tells through /proc even where its library is broken: model, uuid and firmware by PCI address. */
export function procNvidia(frames: Frame[]): Map<string, { model: string | null; uuid: string | null; firmware: string | null }> {
  const found = new Map<string, { model: string | null; uuid: string | null; firmware: string | null }>()
  for (const [path, text] of evidence(frames).files) {
    const address = pciAddress(/\/proc\/driver\/nvidia\/gpus\/([^/]+)\/information$/.exec(path)?.[1])
    if (!address) continue
    const get = (label: string) => known(new RegExp(`^${label}:\\s*(.*)$`, 'm').exec(text)?.[1])
    const uuid = identity(get('GPU UUID'))
    const firmware = get('Video BIOS')
    found.set(address, {
      model: get('Model'),
      uuid: uuid?.includes('?') ? null : uuid,
      firmware: firmware?.includes('?') ? null : firmware,
    })
  }
  return found
}
