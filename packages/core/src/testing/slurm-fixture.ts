import {
  parseJobs,
  parseNodes,
  parsePartitions,
  SEPARATOR,
  type SlurmJob,
  type SlurmNode,
  type SlurmPartition,
  type SlurmReservation,
  SQUEUE_FORMAT,
} from '@muster/slurm'

const [NODE] = parseNodes(
  'NodeName=n1 NodeAddr=n1 NodeHostName=n1 CPUTot=8 CPUAlloc=2 RealMemory=32000 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 State=MIXED Gres=gpu:h100:4 GresUsed=gpu:h100:1(IDX:0) Partitions=debug BootTime=1763800000 SlurmdStartTime=1763800000\n',
)
const [PARTITION] = parsePartitions('PartitionName=debug Default=YES State=UP Nodes=n[1-2] TotalNodes=2 TotalCPUs=16\n')

const FIELDS = SQUEUE_FORMAT.split(SEPARATOR)
const RUNNING: Record<string, string> = { '%A': '1', '%F': '1', '%K': 'N/A', '%i': '1', '%u': 'alice', '%P': 'debug' }
const MORE: Record<string, string> = { '%T': 'RUNNING', '%N': 'n1', '%D': '1', '%C': '2', '%j': 'train', '%l': '60:00' }
const [JOB] = parseJobs(`@${FIELDS.map((field) => RUNNING[field] ?? MORE[field] ?? '(null)').join(SEPARATOR)}\n`, { nonce: '@' })

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
