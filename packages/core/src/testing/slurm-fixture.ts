import {
  parseJobs,
  parseNodes,
  parsePartitions,
  SEPARATOR,
  type SlurmJob,
  type SlurmJobRecord,
  type SlurmNode,
  type SlurmPartition,
  type SlurmReservation,
  SQUEUE_FIELDS,
} from '@muster/slurm'
import type { ClusterState } from '../clusters/index.ts'

const [NODE] = parseNodes(
  'NodeName=n1 NodeAddr=n1 NodeHostName=n1 CPUTot=8 CPUAlloc=2 RealMemory=32000 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 State=MIXED Gres=gpu:h100:4 GresUsed=gpu:h100:1(IDX:0) Partitions=debug BootTime=1763800000 SlurmdStartTime=1763800000\n',
)
const [PARTITION] = parsePartitions('PartitionName=debug Default=YES State=UP Nodes=n[1-2] TotalNodes=2 TotalCPUs=16\n')

const RUNNING: Record<string, string> = { jobid: '1', arrayjobid: '1', arraytaskid: 'N/A', jobarrayid: '1', username: 'alice' }
const MORE: Record<string, string> = { partition: 'debug', state: 'RUNNING', nodelist: 'n1', numnodes: '1', numcpus: '2' }
const TEXTS: Record<string, string> = { timelimit: '60:00', name: 'train' }
const VALUES = { ...RUNNING, ...MORE, ...TEXTS }
const [JOB] = parseJobs(`${SQUEUE_FIELDS.map((field) => `${VALUES[field] ?? '(null)'}${SEPARATOR}`).join('')}@\n`, { nonce: '@' })

/** A node as a controller reports it: 2 of 8 CPUs and 1 of 4 GPUs are allocated. */
export const slurmNode = (name: string, changes: Partial<SlurmNode> = {}): SlurmNode => ({
  ...NODE!,
  name,
  address: name,
  hostname: name,
  ...changes,
})

/** A partition as a controller reports it. */
export const slurmPartition = (name: string, changes: Partial<SlurmPartition> = {}): SlurmPartition => ({
  ...PARTITION!,
  name,
  ...changes,
})

/** A running job as a controller reports it. */
export const slurmJob = (id: number, changes: Partial<SlurmJob> = {}): SlurmJob => ({ ...JOB!, id, ...changes })

/** A completed job with a step, as the accounting recorded it. */
export const slurmJobRecord = (id: number, changes: Partial<SlurmJobRecord> = {}): SlurmJobRecord => ({
  ...{ id, jobId: String(id), name: 'train', user: 'alice', account: 'ml', partition: 'debug', qos: 'normal' },
  ...{ state: 'COMPLETED', canceledBy: null, reason: null, exitCode: { code: 0, signal: 0 }, derivedExitCode: null },
  ...{ submittedAt: new Date('2026-11-22T00:00:00Z'), startAt: new Date('2026-11-22T00:01:00Z') },
  ...{ endAt: new Date('2026-11-22T01:01:00Z'), elapsedSeconds: 3600, timeLimit: 120, priority: 10 },
  ...{ nodes: 'n1', nodeCount: 1, cpus: 4, requestedTres: { cpu: 4 }, tres: { cpu: 4, mem: 4000 } },
  ...{ cpuSeconds: 7200, memoryBytes: 1024 ** 3, reservation: null, workingDirectory: '/home/alice', comment: null },
  steps: [
    {
      ...{ stepId: 'batch', name: 'batch', state: 'COMPLETED', exitCode: { code: 0, signal: 0 } },
      ...{ startAt: new Date('2026-11-22T00:01:00Z'), endAt: new Date('2026-11-22T01:01:00Z'), elapsedSeconds: 3600 },
      ...{ nodes: 'n1', nodeCount: 1, tasks: 1, cpus: 4, tres: { cpu: 4 }, cpuSeconds: 7200 },
      ...{ maxTaskMemoryBytes: 1024 ** 3, maxTaskMemoryNode: 'n1', memoryBytes: 1024 ** 3 },
    },
  ],
  ...changes,
})

/** A reservation as a controller reports it. */
export const slurmReservation = (name: string): SlurmReservation => ({
  name,
  startAt: new Date('2026-11-22T00:00:00Z'),
  endAt: null,
  nodes: 'n1',
  nodeCount: 1,
  partition: 'debug',
  flags: ['MAINT'],
  users: ['alice'],
  accounts: [],
  tres: { cpu: 8 },
  comment: null,
})

/** What a refresh of the cluster alpha reads. */
export const clusterState = (changes: Partial<ClusterState> = {}): ClusterState => ({
  clusterName: 'alpha',
  version: '23.11.11',
  controllers: [{ role: 'primary', hostname: 'ctl', isUp: true }],
  settings: { ClusterName: 'alpha' },
  nodes: [],
  partitions: [slurmPartition('debug')],
  reservations: [],
  jobs: [],
  scheduler: null,
  ...changes,
})
