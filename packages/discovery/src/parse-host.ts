import type { Frame } from './frames.ts'
import { parseCpu } from './host-cpu.ts'
import { parseDisks, parseInfiniband, parseMounts, parseNics, parsePci, parsePrimaryAddress } from './host-devices.ts'
import { parseEvidence, parseKeyValues, parseSections } from './host-evidence.ts'
import { detectToolkits, detectVirtualization } from './host-toolkits.ts'
import type { HostFacts } from './schema.ts'
import { parseCount, parseIdentity, parseNumber, parsePciAddress, parseText } from './text.ts'

/** Parses host facts; unknown values are null. */
export function parseHost(frames: Frame[]): HostFacts {
  const { files, links, frame } = parseEvidence(frames)
  const file = (path: string) => files.get(path)?.trim() || null
  const system = parseSections(frames.find((one) => one.name === 'tool system')?.body ?? '')
  const os = parseKeyValues(files.get('/etc/os-release') ?? files.get('/usr/lib/os-release') ?? '')
  const hostname = file('/proc/sys/kernel/hostname')
  const dmi = (name: string) => parseText(findByPathEnd(files, `/sys/class/dmi/id/${name}`))
  const vendor = dmi('sys_vendor')
  const product = dmi('product_name')
  const memory = (label: string) => {
    const kib = parseCount(new RegExp(`^${label}:\\s*(\\d+)`, 'm').exec(frame('meminfo'))?.[1])
    return kib === null ? null : kib * 1024
  }
  const [pythonPath = null, pythonVersion = null] = /^(\S+) Python (\d[\w.]*)/m.exec(system.python ?? '')?.slice(1) ?? []
  const arch = file('/proc/sys/kernel/arch') ?? (frame('uname').trim() || null)
  return {
    hostname,
    fqdn: fqdn(hostname, system.hosts ?? ''),
    arch,
    os: { id: os.ID ?? null, versionId: os.VERSION_ID ?? null, name: os.PRETTY_NAME ?? os.NAME ?? null, family: osFamily(os) },
    kernel: file('/proc/sys/kernel/osrelease'),
    machineId: file('/etc/machine-id'),
    bootId: file('/proc/sys/kernel/random/boot_id'),
    uptimeSeconds: parseNumber(file('/proc/uptime')?.split(' ')[0]),
    cpu: parseCpu(frame('cpuinfo'), files),
    memoryBytes: memory('MemTotal'),
    swapBytes: memory('SwapTotal'),
    numaNodes: [...files.keys()].filter((path) => /\/node\/node\d+\/cpulist$/.test(path)).length || null,
    disks: parseDisks(files),
    mounts: parseMounts(system),
    nics: parseNics(files, links, system.addresses ?? ''),
    primaryAddress: parsePrimaryAddress(files.get('/proc/net/route') ?? '', system.addresses ?? ''),
    infiniband: parseInfiniband(files, links),
    pci: parsePci(files, links),
    python: { path: pythonPath, version: pythonVersion },
    dmi: {
      vendor,
      product,
      serial: parseIdentity(dmi('product_serial')) ?? parseIdentity(dmi('chassis_serial')),
      uuid: parseIdentity(dmi('product_uuid')),
      board: [dmi('board_vendor'), dmi('board_name')].filter((part) => part !== null).join(' ') || null,
      bios: [dmi('bios_version'), dmi('bios_date')].filter((part) => part !== null).join(' ') || null,
    },
    virtualization: detectVirtualization(files, links, `${vendor ?? ''} ${product ?? ''}`),
    toolkits: detectToolkits(files, links, system.nvcc ?? ''),
  }
}

const findByPathEnd = (files: Map<string, string>, end: string) =>
  [...files].find(([path]) => path.endsWith(end))?.[1].trim() ?? null

function osFamily(os: Record<string, string>): string | null {
  const ids = `${os.ID ?? ''} ${os.ID_LIKE ?? ''}`.toLowerCase()
  if (/debian|ubuntu/.test(ids)) return 'debian'
  if (/rhel|fedora|centos|rocky|almalinux|openeuler|anolis|alinux|kylin|amzn/.test(ids)) return 'redhat'
  if (/suse|sles/.test(ids)) return 'suse'
  return os.ID?.toLowerCase() ?? null
}

/** Fully qualified name from /etc/hosts, without a DNS query. */
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

/** Model, UUID and firmware by PCI address from /proc, which the NVIDIA driver provides even when its library is broken. */
export function parseProcNvidia(
  frames: Frame[],
): Map<string, { model: string | null; uuid: string | null; firmware: string | null }> {
  const found = new Map<string, { model: string | null; uuid: string | null; firmware: string | null }>()
  for (const [path, text] of parseEvidence(frames).files) {
    const address = parsePciAddress(/\/proc\/driver\/nvidia\/gpus\/([^/]+)\/information$/.exec(path)?.[1])
    if (!address) continue
    const get = (label: string) => parseText(new RegExp(`^${label}:\\s*(.*)$`, 'm').exec(text)?.[1])
    const uuid = parseIdentity(get('GPU UUID'))
    const firmware = get('Video BIOS')
    found.set(address, {
      model: get('Model'),
      uuid: uuid?.includes('?') ? null : uuid,
      firmware: firmware?.includes('?') ? null : firmware,
    })
  }
  return found
}
