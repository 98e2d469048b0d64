export const CONFIG_FILES = ['slurm.conf', 'gres.conf', 'cgroup.conf', 'topology.conf'] as const
export type ConfigFileName = (typeof CONFIG_FILES)[number]
/** Texts by file name. */
export type ConfigFiles = { 'slurm.conf': string } & Partial<Record<Exclude<ConfigFileName, 'slurm.conf'>, string>>

export type ConfigGres = {
  /** gpu, shard or a name that the site chose. */
  name: string
  type: string | null
  count: number
  /**
   * Device files, one per unit. A multiple of `count` (MIG): so many files belong to each unit. Shards: the GPUs that they share evenly.
   * Empty: none.
   */
  files: string[]
  /** Cores near the devices, by their logical numbers (threads do not count): 0-31. Null: all, or unknown. */
  cores: string | null
}

export type ConfigNode = {
  name: string
  address: string
  sockets: number
  coresPerSocket: number
  threadsPerCore: number
  /** As the operating system reports it. The configuration gets less: see `configuredMemory`. */
  realMemoryMiB: number
  gres: ConfigGres[]
  features: string[]
  /** Switch of topology.conf that the node is connected to; null: unknown. */
  switchName?: string | null
}

export type ConfigSettings = {
  clusterName: string
  /** The first one is the primary. */
  controllers: { name: string; address: string }[]
  slurmUser: string
  /** StateSaveLocation. */
  stateFolder: string
  partitions: { name: string; isDefault: boolean; maxTimeMinutes: number | null }[]
  /** Name or address of the host of slurmdbd; null: no accounting. */
  accountingHost: string | null
  /** Port of slurmdbd; null: Slurm's default. */
  accountingPort: number | null
  /** Further lines of slurm.conf, one key each. They replace what Muster would write for the key. */
  extraLines: string[]
}

export type ConfigProblem = {
  file: ConfigFileName
  /** From 1; null for the whole file. */
  line: number | null
  key: string | null
  /** ERROR: a program of Slurm would not start with it, or nodes or jobs would fail. */
  severity: 'ERROR' | 'WARNING'
  message: string
}

/** Sets or removes a key of slurm.conf: of a partition, of nodes, or, without both, of the cluster. */
export type ConfigChange = {
  /** Name. */
  partition?: string | null | undefined
  /** Hostlist. */
  nodes?: string | null | undefined
  key: string
  /** Null removes the key, so that Slurm's default applies. */
  value: string | null
}

/** An edit is not possible, or settings are not valid. */
export class ConfigError extends Error {}
