import { profileOf } from '../profiles.ts'
import type { NodeState } from '../registry.ts'
import type { SlurmState } from './plan.ts'

type Gres = { name: string; type: string; count: number; firstDevice: number }

/** Generic resources of a node, by accelerator type. */
const GRES = {
  nvidia_gpu: { name: 'gpu', type: 'h100' },
  amd_gpu: { name: 'gpu', type: 'mi300x' },
  intel_gpu: { name: 'gpu', type: 'max1550' },
  huawei_npu: { name: 'npu', type: '910b' },
  thead_npu: { name: 'ppu', type: 'zw810e' },
}
/** The profile with MIG slices: six whole GPUs, and three slices on each of the two others. */
const MIG: Gres[] = [
  { name: 'gpu', type: 'h100', count: 6, firstDevice: 0 },
  { name: 'gpu', type: '3g.40gb', count: 2, firstDevice: 6 },
  { name: 'gpu', type: '2g.20gb', count: 2, firstDevice: 8 },
  { name: 'gpu', type: '1g.10gb', count: 2, firstDevice: 10 },
]

/** Settings for nodes without cgroups and with fewer cores than they claim. */
const NODE_LIMITS = {
  ProctrackType: 'proctrack/linuxproc',
  TaskPlugin: 'task/none',
  JobAcctGatherType: 'jobacct_gather/none',
  MpiDefault: 'none',
  SlurmdParameters: 'config_overrides',
}
/** The same as lines of slurm.conf, for clusters that somebody else configures on lab nodes. */
export const SLURM_NODE_LIMITS: readonly string[] = Object.entries(NODE_LIMITS).map(([key, value]) => `${key}=${value}`)

/** Device files in /dev, as many as a node has accelerators at most. Slurm requires a file for each GPU. */
export const DEVICE_FILES = Array.from({ length: 16 }, (_, index) => `accel${index}`)

function gresOf(node: NodeState): Gres[] {
  if (node.profile === 'h100x8-mig') return MIG
  return Object.entries(profileOf(node.profile).accelerators).map(([kind, count]) => ({
    ...GRES[kind as keyof typeof GRES],
    count,
    firstDevice: 0,
  }))
}

/** The settings of slurm.conf that are no nodes or partitions. */
function settings(state: SlurmState): Record<string, string> {
  const accounting: Record<string, string> = state.accounting
    ? {
        AccountingStorageType: 'accounting_storage/slurmdbd',
        AccountingStorageHost: state.controllers[0]!,
        AccountingStorageTRES: 'gres/gpu',
        PriorityType: 'priority/multifactor',
      }
    : { AccountingStorageType: 'accounting_storage/none' }
  return {
    ClusterName: 'lab',
    SlurmUser: 'slurm',
    AuthType: 'auth/munge',
    CredType: 'cred/munge',
    StateSaveLocation: '/var/spool/slurmctld',
    SlurmdSpoolDir: '/var/spool/slurmd',
    SlurmctldLogFile: '/var/log/slurm/slurmctld.log',
    SlurmdLogFile: '/var/log/slurm/slurmd.log',
    ...NODE_LIMITS,
    SelectType: 'select/cons_tres',
    SelectTypeParameters: 'CR_Core_Memory',
    ReturnToService: '0',
    SlurmctldTimeout: '10',
    SlurmdTimeout: '30',
    // Silent controllers would otherwise delay each command by 10 to 30 s.
    MessageTimeout: '2',
    KillWait: '2',
    RebootProgram: '/usr/sbin/reboot',
    GresTypes: 'gpu,npu,ppu',
    DefMemPerCPU: '1000',
    ...accounting,
    ...state.config,
  }
}

/** The files of /etc/slurm that all machines of the cluster share, by name. */
export function configFiles(state: SlurmState, nodes: NodeState[]): Record<string, string> {
  const compute = nodes.filter(({ name }) => state.compute.includes(name))
  const withGpus = compute.filter((node) => gresOf(node).length > 0).map(({ name }) => name)
  const addressOf = (name: string) => nodes.find((node) => node.name === name)!.host
  const slurmConf = [
    ...state.controllers.map((name) => `SlurmctldHost=${name}(${addressOf(name)})`),
    ...Object.entries(settings(state)).map(([key, value]) => `${key}=${value}`),
    ...compute.map(nodeLine),
    `PartitionName=batch Nodes=${state.compute.join(',')} Default=YES MaxTime=7-00:00:00 DefaultTime=01:00:00 State=UP`,
    ...(withGpus.length > 0 ? [`PartitionName=gpu Nodes=${withGpus.join(',')} MaxTime=2-00:00:00 PriorityTier=10 State=UP`] : []),
  ]
  const gresConf = compute.flatMap((node) =>
    gresOf(node).map(
      ({ name, type, count, firstDevice }) =>
        `NodeName=${node.name} Name=${name} Type=${type} File=/dev/accel[${firstDevice}-${firstDevice + count - 1}]`,
    ),
  )
  return {
    'slurm.conf': lines(slurmConf),
    'gres.conf': lines(['AutoDetect=off', ...gresConf]),
    // Nodes have no writable cgroups. Releases before 24 have no plugin for that, but accept an empty folder.
    'cgroup.conf': lines([state.prefix && !/-2[0-3]\./.test(state.prefix) ? 'CgroupPlugin=disabled' : 'CgroupPlugin=cgroup/v1']),
  }
}

function nodeLine(node: NodeState): string {
  const { cpu, memoryGib, prefix } = profileOf(node.profile)
  const gres = gresOf(node).map(({ name, type, count }) => `${name}:${type}:${count}`)
  return [
    `NodeName=${node.name} NodeAddr=${node.host}`,
    `CPUs=${cpu.sockets * cpu.coresPerSocket * cpu.threadsPerCore} Sockets=${cpu.sockets}`,
    `CoresPerSocket=${cpu.coresPerSocket} ThreadsPerCore=${cpu.threadsPerCore} RealMemory=${memoryGib * 1000}`,
    `Feature=${prefix}${gres.length > 0 ? ` Gres=${gres.join(',')}` : ''} State=UNKNOWN`,
  ].join(' ')
}

export const slurmdbdConf = (controller: string): string =>
  lines([
    'AuthType=auth/munge',
    `DbdHost=${controller}`,
    'SlurmUser=slurm',
    'StorageType=accounting_storage/mysql',
    'StorageHost=localhost',
    'StorageUser=slurm',
    'LogFile=/var/log/slurm/slurmdbd.log',
    'PidFile=/run/slurmdbd.pid',
  ])

const lines = (list: string[]): string => `${list.join('\n')}\n`
