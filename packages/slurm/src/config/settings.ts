import { releaseNumber } from '../api-versions.ts'
import { findKey, type KeyTable, type ValueType } from './key-table.ts'
import { NODE_KEYS, PARTITION_KEYS, SLURM_CONF_KEYS } from './keys.ts'
import { ALIASES, readEntries, readSetting } from './model.ts'
import { parseConfig } from './parse.ts'
import type { ConfigFiles } from './types.ts'

export const SETTING_GROUPS = ['SCHEDULING', 'RESOURCES', 'PRIORITY', 'LIMITS', 'TIMEOUTS', 'NODES', 'LOGGING'] as const
export type SettingGroup = (typeof SETTING_GROUPS)[number]

/** A key with its value. Descriptions and defaults are those of slurm.conf(5). */
export type ConfigSetting = {
  key: string
  type: ValueType
  description: string
  /** Null when there is none or it depends on other keys. */
  default: string | null
  /** Null when it is not set. */
  value: string | null
}

export type ConfigSettingsView = {
  settings: (ConfigSetting & { group: SettingGroup })[]
  partitions: { name: string; settings: ConfigSetting[] }[]
  /** One entry for each line; `name` is its hostlist. */
  nodes: { name: string; settings: ConfigSetting[] }[]
}

/** A key, its default, and its description. */
type SettingDefinition = readonly [key: string, fallback: string | null, description: string]

const SETTINGS: Record<SettingGroup, readonly SettingDefinition[]> = {
  SCHEDULING: [
    ['SchedulerType', 'sched/backfill', 'Plugin that starts jobs: sched/backfill or sched/builtin.'],
    ['SchedulerParameters', null, 'Options of the scheduler, separated by commas.'],
    ['PreemptType', 'preempt/none', 'Which jobs preempt others: preempt/none, preempt/partition_prio or preempt/qos.'],
    ['PreemptMode', 'OFF', 'What happens to preempted jobs: OFF, CANCEL, REQUEUE or SUSPEND, and GANG.'],
    [
      'EnforcePartLimits',
      'NO',
      'Whether jobs beyond the limits of a partition are refused when they are submitted: ALL, ANY or NO.',
    ],
    ['JobRequeue', '1', 'Whether batch jobs are requeued after the failure of a node: 1 or 0.'],
    ['SchedulerTimeSlice', '30', 'Length of a time slice of gang scheduling in seconds.'],
  ],
  RESOURCES: [
    ['SelectType', null, 'Plugin that assigns resources, such as select/cons_tres. A change loses all jobs.'],
    ['SelectTypeParameters', null, 'What is assigned: CR_Core_Memory, CR_Core, CR_CPU_Memory, CR_CPU, CR_Socket and others.'],
    ['GresTypes', null, 'Names of the generic resources, separated by commas.'],
    ['DefMemPerCPU', 'UNLIMITED', 'Memory of a job per CPU in MiB when it asks for none.'],
    ['DefMemPerNode', 'UNLIMITED', 'Memory of a job per node in MiB when it asks for none.'],
    ['MaxMemPerCPU', '0', 'Maximum memory of a job per CPU in MiB; 0: unlimited.'],
    ['MaxMemPerNode', '0', 'Maximum memory of a job per node in MiB; 0: unlimited.'],
    ['DefMemPerGPU', '0', 'Memory of a job per GPU in MiB when it asks for none.'],
    ['DefCPUPerGPU', '0', 'CPUs of a job per GPU when it asks for none.'],
    ['TaskPlugin', null, 'Plugins that bind and confine tasks, such as task/cgroup,task/affinity.'],
    ['ProctrackType', 'proctrack/cgroup', 'Plugin that finds the processes of a job.'],
  ],
  PRIORITY: [
    ['PriorityType', null, 'Plugin that orders jobs: priority/basic (first come, first served) or priority/multifactor.'],
    ['PriorityWeightAge', '0', 'Weight of the waiting time.'],
    ['PriorityWeightFairshare', '0', 'Weight of the fair share.'],
    ['PriorityWeightJobSize', '0', 'Weight of the size of a job.'],
    ['PriorityWeightPartition', '0', 'Weight of the priority of the partition.'],
    ['PriorityWeightQOS', '0', 'Weight of the quality of service.'],
    ['PriorityDecayHalfLife', '7-0', 'Half-life of past usage in the fair share: minutes, hours:minutes:seconds or days-hours.'],
    ['PriorityMaxAge', '7-0', 'Waiting time after which the age counts fully: minutes, hours:minutes:seconds or days-hours.'],
  ],
  LIMITS: [
    ['MaxJobCount', '10000', 'Maximum number of jobs that slurmctld keeps.'],
    ['MaxArraySize', '1001', 'Highest index of a job array, plus one.'],
    ['MaxStepCount', '40000', 'Maximum number of steps of a job.'],
    ['MinJobAge', '300', 'Seconds that a finished job stays visible.'],
    ['OverTimeLimit', '0', 'Minutes that a job may exceed its time limit.'],
    [
      'AccountingStorageEnforce',
      null,
      'Which limits of the accounting are enforced: associations, limits, qos, safe and others.',
    ],
    ['PrivateData', null, 'What users see only of their own: jobs, usage, users and others.'],
  ],
  TIMEOUTS: [
    ['SlurmctldTimeout', '120', 'Seconds after which the backup controller takes over.'],
    ['SlurmdTimeout', '300', 'Seconds after which a silent node is set to DOWN; 0: never.'],
    ['MessageTimeout', '10', 'Timeout of messages between programs of Slurm in seconds.'],
    ['InactiveLimit', '0', 'Seconds after which an unresponsive job allocation command ends its job; 0: never.'],
    ['KillWait', '30', 'Seconds between SIGTERM and SIGKILL when a job reaches its time limit.'],
    ['CompleteWait', '0', 'Seconds to wait for jobs that end before others start.'],
    ['BatchStartTimeout', '10', 'Seconds in which a batch job must start.'],
    ['UnkillableStepTimeout', '60', 'Seconds after which a step that cannot be ended drains its node.'],
    ['ResumeTimeout', '60', 'Seconds in which a node that was powered up must be usable.'],
    ['SuspendTimeout', '30', 'Seconds that a node needs to power down.'],
    ['SuspendTime', '-1', 'Seconds after which an idle node is powered down; -1: never.'],
  ],
  NODES: [
    [
      'ReturnToService',
      '0',
      'When a DOWN node returns: 0 by an administrator, 1 if it did not respond, 2 whenever it registers.',
    ],
    ['HealthCheckProgram', null, 'Program that each node runs periodically.'],
    ['HealthCheckInterval', '0', 'Seconds between runs of HealthCheckProgram; 0: never.'],
    ['Prolog', null, 'Program that runs on a node before a job.'],
    ['Epilog', null, 'Program that runs on a node after a job.'],
    ['RebootProgram', null, 'Program that restarts a node.'],
    ['TopologyPlugin', null, 'Plugin that knows the network: topology/tree or topology/block.'],
  ],
  LOGGING: [
    ['SlurmctldDebug', 'info', 'Detail of the log of slurmctld: error, info, verbose, debug and others.'],
    ['SlurmdDebug', 'info', 'Detail of the log of slurmd.'],
    ['SlurmctldLogFile', null, 'Log file of slurmctld; none: syslog.'],
    ['SlurmdLogFile', null, 'Log file of slurmd; none: syslog.'],
    ['DebugFlags', null, 'Subsystems that log more, separated by commas.'],
  ],
}

const PARTITION_SETTINGS: readonly SettingDefinition[] = [
  ['Nodes', null, 'Its nodes, as a hostlist; ALL: all nodes.'],
  ['State', 'UP', 'UP, DOWN (accepts jobs and starts none), DRAIN (accepts none) or INACTIVE.'],
  ['Default', 'NO', 'Whether jobs without a partition use it: YES or NO.'],
  ['MaxTime', 'UNLIMITED', 'Maximum time limit of a job: minutes, hours:minutes:seconds or days-hours.'],
  ['DefaultTime', null, 'Time limit of a job that asks for none, as in MaxTime. Default: MaxTime.'],
  ['MaxNodes', 'UNLIMITED', 'Maximum number of nodes of a job.'],
  ['MinNodes', '0', 'Minimum number of nodes of a job.'],
  ['PriorityTier', '1', 'Jobs of a partition with a higher tier start before others.'],
  ['PriorityJobFactor', '1', 'Part of the partition in the priority of a job.'],
  ['OverSubscribe', 'NO', 'Whether jobs share resources: NO, EXCLUSIVE, YES or FORCE, with a count such as FORCE:4.'],
  ['PreemptMode', null, 'What happens to preempted jobs of the partition.'],
  ['GraceTime', '0', 'Seconds between the preemption of a job and its end.'],
  ['DefMemPerCPU', null, 'Memory of a job per CPU in MiB when it asks for none.'],
  ['MaxMemPerNode', null, 'Maximum memory of a job per node in MiB.'],
  ['AllowAccounts', 'ALL', 'Accounts that may use it, separated by commas.'],
  ['AllowGroups', 'ALL', 'Groups of users that may use it, separated by commas.'],
  ['AllowQos', 'ALL', 'Qualities of service that may use it, separated by commas.'],
  ['QOS', null, 'Quality of service whose limits apply to the partition.'],
  ['Hidden', 'NO', 'Whether commands leave it out: YES or NO.'],
]

const NODE_SETTINGS: readonly SettingDefinition[] = [
  ['CPUs', null, 'Number of CPUs: sockets, cores or threads.'],
  ['Sockets', '1', 'Number of sockets.'],
  ['CoresPerSocket', '1', 'Number of cores per socket.'],
  ['ThreadsPerCore', '1', 'Number of threads per core.'],
  ['RealMemory', '1', 'Memory in MiB. A node with less is drained.'],
  ['MemSpecLimit', null, 'Memory in MiB that jobs cannot use.'],
  ['Gres', null, 'Generic resources, such as gpu:h100:8. gres.conf changes with it.'],
  ['Features', null, 'Words that jobs can ask for, separated by commas.'],
  ['Weight', '1', 'Nodes with a lower weight are used first.'],
  ['State', 'UNKNOWN', 'State at the start of slurmctld: UNKNOWN, DRAIN, DOWN, FUTURE or CLOUD.'],
  ['TmpDisk', '0', 'Size of TmpFS in MiB.'],
]

function withValues(
  definitions: readonly SettingDefinition[],
  table: KeyTable,
  release: number,
  readValue: (key: string) => string | null,
): ConfigSetting[] {
  return definitions.flatMap(([key, fallback, description]) => {
    const found = findKey(table, key, release)
    return 'unknown' in found ? [] : [{ key, type: found.type, description, default: fallback, value: readValue(key) }]
  })
}

/** The keys that administrators change most, with their values, as far as the release has them. Values of DEFAULT lines are included. */
export function readSettings(files: ConfigFiles, release: string): ConfigSettingsView {
  const config = parseConfig(files['slurm.conf'])
  const version = releaseNumber(release)
  const entries = (first: string, definitions: readonly SettingDefinition[], table: KeyTable) =>
    readEntries(config, first).map(({ name, values }) => ({
      name,
      settings: withValues(
        definitions,
        table,
        version,
        (key) => values.get(key.toLowerCase()) ?? values.get(ALIASES[key]?.toLowerCase() ?? '') ?? null,
      ),
    }))
  return {
    settings: SETTING_GROUPS.flatMap((group) =>
      withValues(SETTINGS[group], SLURM_CONF_KEYS, version, (key) => readSetting(config, key)).map((one) => ({ ...one, group })),
    ),
    partitions: entries('PartitionName', PARTITION_SETTINGS, PARTITION_KEYS),
    nodes: entries('NodeName', NODE_SETTINGS, NODE_KEYS),
  }
}
