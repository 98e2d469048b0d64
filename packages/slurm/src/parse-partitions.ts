import { parseTres, type Tres } from './gres.ts'
import type { Limit } from './json.ts'
import { parseCount, parseMinutes, parseWord, parseWords, readRecords, type TextRecord } from './text.ts'

/** A partition as slurmctld reports it. */
export interface SlurmPartition {
  name: string
  /** UP, DOWN (accepts jobs, starts none), DRAIN (accepts none, starts queued jobs) or INACTIVE. */
  state: string
  isDefault: boolean
  hidden: boolean
  /** Hostlist, such as gpu[01-03],mig01. */
  nodes: string
  totalNodes: number
  totalCpus: number
  /** Time limits in minutes. */
  maxTime: Limit | null
  defaultTime: Limit | null
  maxNodes: Limit | null
  /** Empty lists permit all. */
  allowGroups: string[]
  allowAccounts: string[]
  allowQos: string[]
  qos: string | null
  priorityTier: number
  priorityJobFactor: number
  tres: Tres
}

/** Reads `scontrol --all show partitions --oneliner`. Its --json, from 23.02, does not say which are hidden or the default. */
export const parsePartitions = (output: string): SlurmPartition[] =>
  readRecords(output, 'PartitionName', {
    required: ['Nodes', 'State'],
    empty: 'No partitions in the system',
  }).map(fromText)

function fromText(partition: TextRecord): SlurmPartition {
  const get = (key: string) => parseWord(partition.get(key))
  const allowed = (key: string) => (get(key) === 'ALL' ? [] : parseWords(partition.get(key)))
  const maxNodes = get('MaxNodes')
  return {
    name: partition.get('PartitionName')!,
    state: get('State') ?? 'UNKNOWN',
    isDefault: get('Default') === 'YES',
    hidden: get('Hidden') === 'YES',
    nodes: get('Nodes') ?? '',
    totalNodes: parseCount(partition.get('TotalNodes')) ?? 0,
    totalCpus: parseCount(partition.get('TotalCPUs')) ?? 0,
    maxTime: parseMinutes(partition.get('MaxTime')),
    defaultTime: parseMinutes(partition.get('DefaultTime')),
    maxNodes: maxNodes === 'UNLIMITED' ? 'UNLIMITED' : parseCount(maxNodes ?? undefined),
    allowGroups: allowed('AllowGroups'),
    allowAccounts: allowed('AllowAccounts'),
    allowQos: allowed('AllowQos'),
    qos: get('QoS'),
    priorityTier: parseCount(partition.get('PriorityTier')) ?? 0,
    priorityJobFactor: parseCount(partition.get('PriorityJobFactor')) ?? 0,
    tres: parseTres(get('TRES')),
  }
}
