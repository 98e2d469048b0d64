import { type Gres, parseGres, parseTres, type Tres } from './gres.ts'
import { type JsonObject, readList, readNumber, readText, readTime } from './json.ts'
import { isJson, readJsonList } from './response.ts'
import { parseCount, parseTime, parseWord, parseWords, readRecords, type TextRecord } from './text.ts'

/** A node as slurmctld reports it. */
export interface SlurmNode {
  name: string
  /** NodeHostName: differs from the name when several slurmd share a host. */
  hostname: string
  /** NodeAddr: an address or a name. */
  address: string
  /** Slurm's words, the base state first: ["IDLE", "DRAIN"], ["DOWN", "NOT_RESPONDING"]. */
  states: string[]
  partitions: string[]
  reservation: string | null
  reason: string | null
  reasonUser: string | null
  reasonAt: Date | null
  comment: string | null
  /** Version of slurmd; null for a node that never registered. */
  version: string | null
  architecture: string | null
  operatingSystem: string | null
  cpus: number
  allocatedCpus: number
  sockets: number
  coresPerSocket: number
  threadsPerCore: number
  /** Load average over 1 minute; null when the node does not respond. */
  cpuLoad: number | null
  /** Memory in MiB: configured, allocated to jobs, and free as the operating system sees it. */
  memory: number
  allocatedMemory: number
  freeMemory: number | null
  gres: Gres[]
  gresUsed: Gres[]
  tres: Tres
  tresUsed: Tres
  features: string[]
  activeFeatures: string[]
  weight: number
  bootAt: Date | null
  slurmdStartedAt: Date | null
  lastBusyAt: Date | null
}

/**
 * Reads nodes from `scontrol show nodes --json` (23.02 and later), `sinfo --json` (21.08, 22.05) or `scontrol show nodes --detail
 * --oneliner` (all versions). `sinfo --json` of later versions lists groups of nodes, and with `-n NODE` stale data: it is refused.
 * @param utcOffset minutes that the controller's local time is ahead of UTC, for text with local times
 * @throws SlurmOutputError when it is none of them, or reports errors
 */
export function parseNodes(output: string, { utcOffset = 0 }: { utcOffset?: number } = {}): SlurmNode[] {
  const resources = cachedParsers()
  if (isJson(output)) return readJsonList(output, 'nodes').map((node) => fromJson(node, resources))
  const freeText = ['Reason', 'Comment', 'Extra', 'ReservationName']
  return readRecords(output, 'NodeName', { required: ['State', 'CPUTot'], freeText, empty: 'No nodes in the system' }).map(
    (record) => fromText(record, utcOffset, resources),
  )
}

/** Thousands of nodes have the same resources. */
function cachedParsers() {
  const cached = <T>(parse: (text: string | null) => T) => {
    const results = new Map<string | null, T>()
    return (text: string | null): T => {
      const result = results.get(text) ?? parse(text)
      results.set(text, result)
      return result
    }
  }
  return {
    parseGres: cached(parseGres),
    parseUsedGres: cached((text) => parseGres(text).filter(({ count }) => count > 0)),
    parseTres: cached(parseTres),
  }
}
type Resources = ReturnType<typeof cachedParsers>

function fromJson(node: JsonObject, { parseGres, parseUsedGres, parseTres }: Resources): SlurmNode {
  const name = readText(node.name) ?? ''
  const load = readNumber(node.cpu_load)
  const states = [...readList(node.state), ...readList(node.state_flags)].map((state) => state.toUpperCase())
  const registered = readTime(node.slurmd_start_time) !== null
  return {
    name,
    hostname: readText(node.hostname) ?? name,
    address: readText(node.address) ?? name,
    states,
    partitions: readList(node.partitions),
    reservation: readText(node.reservation),
    reason: readText(node.reason),
    reasonUser: readText(node.reason) && readText(node.reason_set_by_user),
    reasonAt: readTime(node.reason_changed_at),
    comment: readText(node.comment),
    version: readText(node.version) ?? readText(node.slurmd_version),
    architecture: readText(node.architecture),
    operatingSystem: readText(node.operating_system),
    cpus: readNumber(node.cpus) ?? 0,
    allocatedCpus: readNumber(node.alloc_cpus) ?? 0,
    sockets: readNumber(node.sockets) ?? 0,
    coresPerSocket: readNumber(node.cores) ?? 0,
    threadsPerCore: readNumber(node.threads) ?? 0,
    cpuLoad: load === null || !registered ? null : load / 100,
    memory: readNumber(node.real_memory) ?? 0,
    allocatedMemory: readNumber(node.alloc_memory) ?? 0,
    freeMemory: readNumber(node.free_mem) ?? readNumber(node.free_memory),
    gres: parseGres(readText(node.gres)),
    gresUsed: parseUsedGres(readText(node.gres_used)),
    tres: parseTres(readText(node.tres)),
    tresUsed: parseTres(readText(node.tres_used)),
    features: readList(node.features),
    activeFeatures: readList(node.active_features),
    weight: readNumber(node.weight) ?? 0,
    bootAt: readTime(node.boot_time),
    slurmdStartedAt: readTime(node.slurmd_start_time),
    lastBusyAt: readTime(node.last_busy),
  }
}

function fromText(node: TextRecord, utcOffset: number, { parseGres, parseUsedGres, parseTres }: Resources): SlurmNode {
  const get = (key: string) => parseWord(node.get(key))
  const time = (key: string) => parseTime(node.get(key), utcOffset)
  const name = node.get('NodeName')!
  // Reason=disk failed [root@2026-11-22T07:48:48]
  const [, reason, reasonUser, reasonTime] = /^(.*?)(?: \[([^\]@]*)@([^\]]*)\])?$/s.exec(get('Reason') ?? '') ?? []
  const registered = time('SlurmdStartTime') !== null
  return {
    name,
    hostname: get('NodeHostName') ?? name,
    address: get('NodeAddr') ?? name,
    // A trailing * of the base state, as in DOWN*, is the short form of NOT_RESPONDING. Slurm 20.11 prints POWER for nodes that are off.
    states: parseWords(node.get('State')?.replace(/\*/g, '+NOT_RESPONDING').replace(/\+/g, ',')).map((word) =>
      word === 'POWER' ? 'POWERED_DOWN' : word,
    ),
    partitions: parseWords(node.get('Partitions')),
    reservation: get('ReservationName'),
    reason: reason || null,
    reasonUser: reason ? reasonUser || null : null,
    reasonAt: parseTime(reasonTime, utcOffset),
    comment: get('Comment'),
    version: get('Version'),
    architecture: get('Arch'),
    operatingSystem: get('OS'),
    cpus: parseCount(node.get('CPUTot')) ?? 0,
    allocatedCpus: parseCount(node.get('CPUAlloc')) ?? 0,
    sockets: parseCount(node.get('Sockets')) ?? 0,
    coresPerSocket: parseCount(node.get('CoresPerSocket')) ?? 0,
    threadsPerCore: parseCount(node.get('ThreadsPerCore')) ?? 0,
    cpuLoad: registered ? parseCount(node.get('CPULoad')) : null,
    memory: parseCount(node.get('RealMemory')) ?? 0,
    allocatedMemory: parseCount(node.get('AllocMem')) ?? 0,
    freeMemory: parseCount(node.get('FreeMem')),
    gres: parseGres(get('Gres')),
    gresUsed: parseUsedGres(get('GresUsed')),
    tres: parseTres(get('CfgTRES')),
    tresUsed: parseTres(get('AllocTRES')),
    features: parseWords(node.get('AvailableFeatures')),
    activeFeatures: parseWords(node.get('ActiveFeatures')),
    weight: parseCount(node.get('Weight')) ?? 0,
    bootAt: time('BootTime'),
    slurmdStartedAt: time('SlurmdStartTime'),
    lastBusyAt: time('LastBusyTime'),
  }
}
