import fs from 'node:fs'
import { fileExists, listFolder, max, percent, readNumber, readText, sum } from '../files.ts'

/** Monotonic counters. Rates are computed from the difference to the previous heartbeat. */
type Counters = {
  at: number
  cpu: number[] | null
  disks: Map<string, number>
  nics: Map<string, [number | null, number | null]>
}

const GIB = 1024 ** 3

/** Reads CPU, memory, storage, load, disk and network utilization. Rates need a second reading. */
export class HostReader {
  #root: string
  #storagePath: string
  #previous: Counters

  constructor(root: string, storagePath: string) {
    this.#root = root
    this.#storagePath = storagePath
    this.#previous = readCounters(root)
  }

  read() {
    const [previous, current] = [this.#previous, readCounters(this.#root)]
    this.#previous = current
    const seconds = (current.at - previous.at) / 1000
    const load = readText(this.#root, '/proc/loadavg')?.split(' ') ?? []
    const average = (index: number) => (load[index] === undefined ? null : Number(load[index]).toFixed(6))
    const uptime = readText(this.#root, '/proc/uptime')?.split(' ')[0]
    const memory = meminfo(this.#root)
    return {
      cores: readText(this.#root, '/proc/stat')?.match(/^cpu\d+ /gm)?.length ?? null,
      memory: memory && { total: Math.round(memory.total / GIB), available: Math.floor(memory.available / GIB) },
      storage: this.#storage(),
      health: {
        uptime_seconds: uptime === undefined ? null : Math.floor(Number(uptime)),
        load_average_1m: average(0),
        load_average_5m: average(1),
        load_average_15m: average(2),
        ...cpuUtilization(previous.cpu, current.cpu),
        memory_utilization_percent: memory && percent(memory.total - memory.available, memory.total),
        disk_io_utilization_percent: max(
          [...current.disks].map(([name, ms]) =>
            previous.disks.has(name) ? percent(ms - previous.disks.get(name)!, seconds * 1000) : null,
          ),
        ),
        network_utilization_percent: max(
          [...current.nics].map(([name, bytes]) => this.#networkUtilization(name, previous.nics.get(name), bytes, seconds)),
        ),
        boot_id: readText(this.#root, '/proc/sys/kernel/random/boot_id'),
      },
    }
  }

  #storage() {
    try {
      const { blocks, bavail, bfree, bsize } = fs.statfsSync(this.#root + this.#storagePath)
      const gib = (count: number) => Math.floor((count * bsize) / GIB)
      return { total: gib(blocks), available: gib(bavail), allocated: gib(blocks - bfree), free: percent(bavail, blocks) }
    } catch {
      return null
    }
  }

  /** Utilization of the busier direction relative to the link speed; null when the speed is unknown. */
  #networkUtilization(
    name: string,
    previous: [number | null, number | null] | undefined,
    current: [number | null, number | null],
    seconds: number,
  ) {
    const mbps = readNumber(this.#root, `/sys/class/net/${name}/speed`)
    if (!mbps || !previous) return null
    return max(
      current.map((bytes, i) =>
        bytes === null || previous[i] == null ? null : percent((bytes - previous[i]!) * 8, mbps * 1e6 * seconds),
      ),
    )
  }
}

function readCounters(root: string): Counters {
  const cpu = /^cpu +([\d ]+)$/m.exec(readText(root, '/proc/stat') ?? '')?.[1]
  const disks = (readText(root, '/proc/diskstats') ?? '').split('\n').map((line) => line.trim().split(/\s+/))
  return {
    at: performance.now(),
    cpu: cpu ? cpu.split(' ').map(Number) : null,
    disks: new Map(disks.filter(([, , name]) => isDisk(root, name)).map((row) => [row[2]!, Number(row[12])])),
    nics: new Map(
      physicalNics(root).map((name) => [name, [byteCounter(root, name, 'rx_bytes'), byteCounter(root, name, 'tx_bytes')]]),
    ),
  }
}

const isDisk = (root: string, name: string | undefined) =>
  name !== undefined && !/^(loop|ram|zram|dm-|sr|fd|nbd|md)/.test(name) && fileExists(root, `/sys/block/${name}`)

/** Network interfaces with a hardware device; excludes bridges, veth and loopback. */
export function physicalNics(root: string): string[] {
  return listFolder(root, '/sys/class/net').filter((name) => fileExists(root, `/sys/class/net/${name}/device`))
}

const byteCounter = (root: string, name: string, counter: string) =>
  readNumber(root, `/sys/class/net/${name}/statistics/${counter}`)

/** Fields of /proc/stat: user nice system idle iowait irq softirq steal. user includes guest time. */
function cpuUtilization(previous: number[] | null, current: number[] | null) {
  const delta = previous && current ? current.slice(0, 8).map((value, i) => value - previous[i]!) : null
  const total = sum(delta ?? []) ?? 0
  const share = (part: number | undefined) => (part === undefined ? null : percent(part, total))
  return {
    cpu_utilization_percent: delta ? share(total - delta[3]! - (delta[4] ?? 0)) : null,
    cpu_iowait_percent: share(delta?.[4]),
    cpu_steal_percent: share(delta?.[7]),
  }
}

function meminfo(root: string) {
  const text = readText(root, '/proc/meminfo') ?? ''
  const bytes = (key: string) => {
    const kib = new RegExp(`^${key}: +(\\d+) kB$`, 'm').exec(text)?.[1]
    return kib === undefined ? null : Number(kib) * 1024
  }
  const [total, available] = [bytes('MemTotal'), bytes('MemAvailable')]
  return total && available !== null ? { total, available: Math.min(available, total) } : null
}
