import { type Dirent, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FileSpec } from './files.ts'
import type { PlannedNode } from './plan.ts'
import { type Profile, profileOf } from './profiles.ts'

/** Tool output, PCI list and further files of each profile; they are fixtures of the parsers too. */
const profilesDir = fileURLToPath(new URL('../../discovery/fixtures/profiles/', import.meta.url))

/** Tools that nodes must not inherit from a host with real accelerators. */
export const vendorTools = [
  'nvidia-smi',
  'amd-smi',
  'rocm-smi',
  'rocminfo',
  'xpu-smi',
  'npu-smi',
  'ppu-smi',
  'ibstat',
  'dcgmi',
  'sycl-ls',
]

/** /proc/cpuinfo and /proc/meminfo of a large server, in the format of Linux on x86_64. */
export function procFiles({ cpu, memoryGib }: Profile): { cpuinfo: string; meminfo: string } {
  const cores = cpu.sockets * cpu.coresPerSocket
  const processors = Array.from({ length: cores * cpu.threadsPerCore }, (_, index) => {
    const core = index % cores
    return [
      `processor\t: ${index}`,
      `vendor_id\t: ${cpu.vendor}`,
      `model name\t: ${cpu.model}`,
      'cpu MHz\t\t: 2000.000',
      `physical id\t: ${Math.floor(core / cpu.coresPerSocket)}`,
      `siblings\t: ${cpu.coresPerSocket * cpu.threadsPerCore}`,
      `core id\t\t: ${core % cpu.coresPerSocket}`,
      `cpu cores\t: ${cpu.coresPerSocket}`,
      'flags\t\t: fpu sse sse2 avx avx2 avx512f',
    ].join('\n')
  })
  const total = memoryGib * 1024 * 1024 - 13_107_200
  const meminfo = [
    ['MemTotal', total],
    ['MemFree', total - 41_943_040],
    ['MemAvailable', total - 20_971_520],
    ['Buffers', 524_288],
    ['Cached', 20_971_520],
    ['SwapCached', 0],
    ['SwapTotal', 0],
    ['SwapFree', 0],
    ['Shmem', 65_536],
    ['HugePages_Total', 0],
  ].map(([name, kib]) => `${`${name}:`.padEnd(16)}${String(kib).padStart(12)}${name === 'HugePages_Total' ? '' : ' kB'}`)
  return { cpuinfo: `${processors.join('\n\n')}\n\n`, meminfo: `${meminfo.join('\n')}\n` }
}

/** The same processors in /sys: online CPUs, and the siblings of CPU 0. */
function cpuFiles({ cpu }: Profile): FileSpec[] {
  const cores = cpu.sockets * cpu.coresPerSocket
  const list = (ranges: number[][]) => ranges.map((range) => range.join('-')).join(',')
  const socket = (number: number) =>
    list(
      Array.from({ length: cpu.threadsPerCore }, (_, thread) => {
        const first = thread * cores + number * cpu.coresPerSocket
        return [first, first + cpu.coresPerSocket - 1]
      }),
    )
  const at = '/sys/devices/system'
  return [
    { path: `${at}/cpu/online`, content: `0-${cores * cpu.threadsPerCore - 1}\n` },
    { path: `${at}/cpu/cpu0/topology/core_siblings_list`, content: `${socket(0)}\n` },
    {
      path: `${at}/cpu/cpu0/topology/thread_siblings_list`,
      content: `${list(Array.from({ length: cpu.threadsPerCore }, (_, thread) => [thread * cores]))}\n`,
    },
    ...Array.from({ length: cpu.sockets }, (_, number) => ({
      path: `${at}/node/node${number}/cpulist`,
      content: `${socket(number)}\n`,
    })),
  ]
}

/** A node's hardware as files of its root, /sys and /proc, by absolute path. */
export function hardwareFiles(node: PlannedNode): FileSpec[] {
  const profile = profileOf(node.profile)
  const dir = path.join(profilesDir, profile.shows ?? node.profile)
  const { cpuinfo, meminfo } = procFiles(profile)
  return [
    { path: '/proc/cpuinfo', content: cpuinfo },
    { path: '/proc/meminfo', content: meminfo },
    { path: '/proc/cmdline', content: 'BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 ro quiet\n' },
    ...cpuFiles(profile),
    ...dmiFiles(node),
    ...(node.tools ? readTree(path.join(dir, 'extra'), node.tag) : []),
    ...pciFiles(dir, node.tools),
    ...toolFiles(node),
  ]
}

/** The profile's tools: captured output under /usr/lib/lab/tools, and one script per tool on PATH. */
export function toolFiles(node: PlannedNode, libDir = '/usr/lib/lab/tools', binDir = '/usr/local/bin'): FileSpec[] {
  if (!node.tools) return []
  const profile = profileOf(node.profile)
  const dir = path.join(profilesDir, profile.shows ?? node.profile)
  const tools = entries(dir).filter((name) => vendorTools.includes(name))
  const files = tools.flatMap((tool) => [
    ...readTree(path.join(dir, tool), node.tag).map((file) => ({ ...file, path: path.join(libDir, tool, file.path) })),
    { path: path.join(binDir, tool), content: replayScript(path.join(libDir, tool)), mode: 0o755 },
  ])
  const faultScript = node.profile === 'hung-tool' || node.profile === 'flood-tool' ? toolScripts[node.profile] : null
  if (!faultScript || !profile.tool) return files
  const broken = path.join(binDir, profile.tool)
  return [...files.filter((file) => file.path !== broken), { path: broken, content: faultScript, mode: 0o755 }]
}

/** Scripts that replace a tool under a fault. */
export const toolScripts = {
  // exec preserves ignored signals, so only SIGKILL ends it.
  'hung-tool': "#!/bin/sh\ntrap '' HUP INT PIPE TERM\nexec sleep 2147483647\n",
  'flood-tool': "#!/bin/sh\nyes '0123456789 a line that repeats again and again' | head -c 10485760\n",
  'truncated-output': `#!/bin/sh
real=$(PATH=/usr/sbin:/usr/bin:/sbin:/bin command -v "\${0##*/}")
"$real" "$@" > /tmp/truncated.$$
head -c "$(($(wc -c < /tmp/truncated.$$) / 2))" /tmp/truncated.$$
rm /tmp/truncated.$$
`,
  'endless-output': "#!/bin/sh\nexec yes '0123456789 a line that repeats endlessly'\n",
}

function replayScript(dir: string): string {
  return `#!/bin/sh
IFS=_
call="${dir}/\${*:-_}"
[ -f "$call.txt" ] || call=${dir}/_unknown
[ -f "$call.rc" ] || exec cat "$call.txt"
read -r code < "$call.rc"
cat "$call.txt"
exit "$code"
`
}

/** /sys/bus/pci/devices in sysfs layout, from lines `address vendor device class numa driver`. */
function pciFiles(dir: string, withDrivers: boolean): FileSpec[] {
  const list = entries(dir).includes('pci.txt')
    ? readFileSync(path.join(dir, 'pci.txt'), 'utf8')
    : '0000:02:00.0 1a03 2000 030000 0 ast\n'
  return list.split('\n').flatMap((line) => {
    const [address, vendor, device, kind, numa, bound] = line.trim().split(/\s+/)
    const driver = withDrivers ? bound : undefined
    if (!address || !vendor || !device || !kind || address.startsWith('#')) return []
    const at = `/sys/bus/pci/devices/${address}`
    const ids = `PCI_CLASS=${kind.replace(/^0+/, '')}\nPCI_ID=${vendor}:${device}\nPCI_SLOT_NAME=${address}\n`.toUpperCase()
    return [
      { path: `${at}/vendor`, content: `0x${vendor}\n` },
      { path: `${at}/device`, content: `0x${device}\n` },
      { path: `${at}/class`, content: `0x${kind}\n` },
      { path: `${at}/numa_node`, content: `${numa ?? -1}\n` },
      { path: `${at}/uevent`, content: `${driver ? `DRIVER=${driver}\n` : ''}${ids}` },
      ...(driver
        ? [
            { path: `/sys/bus/pci/drivers/${driver}/uevent`, content: '' },
            { path: `${at}/driver`, content: '', link: `../../drivers/${driver}` },
          ]
        : []),
    ]
  })
}

function dmiFiles(node: PlannedNode): FileSpec[] {
  const facts = {
    sys_vendor: 'Example Systems',
    product_name: `Lab ${node.profile}`,
    product_serial: `LAB${node.tag.toUpperCase()}`,
    bios_version: '1.0',
  }
  return Object.entries(facts).map(([name, value]) => ({ path: `/sys/class/dmi/id/${name}`, content: `${value}\n` }))
}

function readTree(dir: string, tag: string, below = ''): FileSpec[] {
  return entries(path.join(dir, below), true).flatMap((name) => {
    const inside = path.join(below, name)
    if (name.endsWith('/')) return readTree(dir, tag, inside)
    if (name.endsWith('@'))
      return [{ path: `/${inside.slice(0, -1)}`, content: '', link: readlinkSync(path.join(dir, inside.slice(0, -1))) }]
    return [{ path: `/${inside}`, content: readFileSync(path.join(dir, inside), 'utf8').replaceAll('@NODE@', tag) }]
  })
}

/** Names in a directory, optionally with the suffixes of ls -F (/ directory, @ link); empty for a missing directory. */
function entries(dir: string, withSuffix = false): string[] {
  const suffix = (entry: Dirent) => (entry.isDirectory() ? '/' : entry.isSymbolicLink() ? '@' : '')
  try {
    return readdirSync(dir, { withFileTypes: true }).map((entry) => entry.name + (withSuffix ? suffix(entry) : ''))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
