import fs from 'node:fs'
import { exists, max, names, number, percent, sum, text } from '../files.ts'

/** Counters that only grow; what they grew by since the beat before is what is reported. */
type Counters = {
  at: number
  cpu: number[] | null
  disks: Map<string, number>
  nics: Map<string, [number | null, number | null]>
}

const GIB = 1024 ** 3

/** CPU, memory, storage, load and how busy disks and networks are. The first look has no deltas, so nothing that is a rate. */
export class Host {
  #root: string
  #storagePath: string
  #before: Counters

  constructor(root: string, storagePath: string) {
    this.#root = root
    this.#storagePath = storagePath
    this.#before = counters(root)
  }

  read() {
    const [before, now] = [this.#before, counters(this.#root)]
    this.#before = now
    const seconds = (now.at - before.at) / 1000
    const load = text(this.#root, '/proc/loadavg')?.split(' ') ?? []
    const average = (at: number) => (load[at] === undefined ? null : Number(load[at]).toFixed(6))
    const uptime = text(this.#root, '/proc/uptime')?.split(' ')[0]
    const memory = meminfo(this.#root)
    return {
      cores: text(this.#root, '/proc/stat')?.match(/^cpu\d+ /gm)?.length ?? null,
      memory: memory && { total: Math.round(memory.total / GIB), available: Math.floor(memory.available / GIB) },
      storage: this.#storage(),
      health: {
        uptime_seconds: uptime === undefined ? null : Math.floor(Number(uptime)),
        load_average_1m: average(0),
        load_average_5m: average(1),
        load_average_15m: average(2),
        ...busy(before.cpu, now.cpu),
        memory_utilization_percent: memory && percent(memory.total - memory.available, memory.total),
        disk_io_utilization_percent: max(
          [...now.disks].map(([name, ms]) =>
            before.disks.has(name) ? percent(ms - before.disks.get(name)!, seconds * 1000) : null,
          ),
        ),
        network_utilization_percent: max(
          [...now.nics].map(([name, bytes]) => this.#traffic(name, before.nics.get(name), bytes, seconds)),
        ),
        boot_id: text(this.#root, '/proc/sys/kernel/random/boot_id'),
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

  /** The busier direction, of what the link can carry; null where the link does not say its speed. */
  #traffic(
    name: string,
    before: [number | null, number | null] | undefined,
    now: [number | null, number | null],
    seconds: number,
  ) {
    const mbps = number(this.#root, `/sys/class/net/${name}/speed`)
    if (!mbps || !before) return null
    return max(
      now.map((bytes, i) =>
        bytes === null || before[i] == null ? null : percent((bytes - before[i]!) * 8, mbps * 1e6 * seconds),
      ),
    )
  }
}

function counters(root: string): Counters {
  const cpu = /^cpu +([\d ]+)$/m.exec(text(root, '/proc/stat') ?? '')?.[1]
  const disks = (text(root, '/proc/diskstats') ?? '').split('\n').map((line) => line.trim().split(/\s+/))
  return {
    at: performance.now(),
    cpu: cpu ? cpu.split(' ').map(Number) : null,
    disks: new Map(disks.filter(([, , name]) => isDisk(root, name)).map((row) => [row[2]!, Number(row[12])])),
    nics: new Map(physicalNics(root).map((name) => [name, [traffic(root, name, 'rx_bytes'), traffic(root, name, 'tx_bytes')]])),
  }
}

const isDisk = (root: string, name: string | undefined) =>
  name !== undefined && !/^(loop|ram|zram|dm-|sr|fd|nbd|md)/.test(name) && exists(root, `/sys/block/${name}`)

/** Those with a device behind them: no bridges, no veth, no loopback. */
export function physicalNics(root: string): string[] {
  return names(root, '/sys/class/net').filter((name) => exists(root, `/sys/class/net/${name}/device`))
}

const traffic = (root: string, name: string, counter: string) => number(root, `/sys/class/net/${name}/statistics/${counter}`)

/** /proc/stat: user nice system idle iowait irq softirq steal; guest time is in user already. */
function busy(before: number[] | null, now: number[] | null) {
  const grown = before && now ? now.slice(0, 8).map((value, i) => value - before[i]!) : null
  const whole = sum(grown ?? []) ?? 0
  const share = (part: number | undefined) => (part === undefined ? null : percent(part, whole))
  return {
    cpu_utilization_percent: grown ? share(whole - grown[3]! - (grown[4] ?? 0)) : null,
    cpu_iowait_percent: share(grown?.[4]),
    cpu_steal_percent: share(grown?.[7]),
  }
}

function meminfo(root: string) {
  const found = text(root, '/proc/meminfo') ?? ''
  const bytes = (key: string) => {
    const kib = new RegExp(`^${key}: +(\\d+) kB$`, 'm').exec(found)?.[1]
    return kib === undefined ? null : Number(kib) * 1024
  }
  const [total, available] = [bytes('MemTotal'), bytes('MemAvailable')]
  return total && available !== null ? { total, available: Math.min(available, total) } : null
}
