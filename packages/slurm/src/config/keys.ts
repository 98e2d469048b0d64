import { keyTable } from './key-table.ts'

// Taken from the option tables of Slurm's sources. `Key>=23.11` is known from that release on, `Key<25.11` before it.

/** Keys of slurm.conf. */
export const SLURM_CONF_KEYS = keyTable({
  STRING: `
    AccountingStorageTRES AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost
    AccountingStorageBackupHost AccountingStorageLoc<22.05 AccountingStorageParameters AccountingStoragePass
    AccountingStorageType AccountingStorageUser AcctGatherEnergyType AcctGatherProfileType
    AcctGatherInterconnectType AcctGatherInfinibandType AcctGatherFilesystemType AuthAltTypes AuthAltParameters
    AuthInfo AuthType BackupAddr BackupController BurstBufferParameters BurstBufferType CheckpointType<21.08
    CoreSpecPlugin CliFilterPlugins ClusterName CommunicationParameters ControlAddr ControlMachine CpuFreqDef
    CpuFreqGovernors CredType CryptoType DebugFlags DefaultStorageHost<21.08 DefaultStorageLoc<21.08
    DefaultStoragePass<21.08 DefaultStorageType<21.08 DefaultStorageUser<21.08 DependencyParameters
    EnforcePartLimits Epilog<24.05 EpilogSlurmctld<24.05 ExtSensorsType FederationParameters GresTypes GpuFreqDef
    HealthCheckNodeState HealthCheckProgram InteractiveStepOptions JobAcctGatherType JobAcctGatherFrequency
    JobAcctGatherParams JobCheckpointDir<21.08 JobCompHost JobCompLoc JobCompParams JobCompPass JobCompType
    JobContainerType JobCompUser JobCredentialPrivateKey JobCredentialPublicCertificate JobSubmitPlugins
    LaunchParameters LaunchType Licenses LogTimeFormat MailDomain MailProg MCSParameters MCSPlugin
    MemLimitEnforce<21.08 MpiDefault MpiParams NodeFeaturesPlugins PluginDir PlugStackConfig PowerParameters
    PowerPlugin PreemptMode PreemptType PreemptExemptTime PrEpParameters PrEpPlugins PriorityDecayHalfLife
    PriorityCalcPeriod PriorityMaxAge PriorityParameters PriorityUsageResetPeriod PriorityType PriorityFlags
    PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityWeightTRES PrivateData ProctrackType Prolog<24.05
    PrologSlurmctld<24.05 PrologFlags PropagateResourceLimitsExcept PropagateResourceLimits RebootProgram
    ReconfigFlags RequeueExit RequeueExitHold ResumeFailProgram ResumeProgram ResvEpilog ResvProlog RoutePlugin
    SallocDefaultCommand<20.11 SbcastParameters SchedulerAuth<24.05 SchedulerParameters SchedulerType ScronParameters
    SelectType SelectTypeParameters SlurmUser SlurmdUser SlurmctldAddr SlurmctldDebug SlurmctldLogFile
    SlurmctldPidFile SlurmctldPlugstack<23.02 SlurmctldPort SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg
    SlurmctldSyslogDebug SlurmctldParameters SlurmdDebug SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdSpoolDir
    SlurmdSyslogDebug SlurmSchedLogFile SrunEpilog SrunProlog SrunPortRange StateSaveLocation SuspendExcNodes
    SuspendExcParts SuspendProgram SuspendTime SwitchType TaskEpilog TaskProlog TaskPlugin TaskPluginParam TmpFS
    TopologyParam TopologyPlugin UnkillableStepProgram X11Parameters AccountingStoreFlags>=21.08 BcastExclude>=21.08
    BcastParameters>=21.08 SwitchParameters>=21.08 PreemptParameters>=23.02 SuspendExcStates>=23.02
    HashPlugin>=24.05 TLSParameters>=24.05 TLSType>=24.05 CertmgrType>=24.11 CertmgrParameters>=24.11
    DataParserParameters>=24.11 CertgenType>=25.05 CertgenParameters>=25.05 CliFilterParameters>=25.11
    HttpParserType>=25.11 JobCompPassScript>=25.11 MetricsType>=25.11 NamespaceType>=25.11 UrlParserType>=25.11
    LicenseParameters>=26.05 MetricsAuthUsers>=26.05 MetricsParameters>=26.05 SlurmctldHttpAuthParameters>=26.05
    SlurmdHttpAuthParameters>=26.05
  `,
  UINT16: `
    AccountingStoragePort AcctGatherNodeFreq BatchStartTimeout CacheGroups<21.08 CompleteWait EioTimeout
    ExtSensorsFreq FairShareDampeningFactor FastSchedule GetEnvTimeout GroupUpdateForce GroupUpdateTime
    HealthCheckInterval InactiveLimit JobFileAppend JobRequeue KeepAliveTime<22.05 KillOnBadExit KillWait
    MaxTasksPerNode MessageTimeout OverTimeLimit PrologEpilogTimeout PropagatePrioProcess ResumeRate ResumeTimeout
    ResvOverRun ReturnToService SchedulerPort<21.08 SchedulerRootFilter<21.08 SchedulerTimeSlice SlurmctldTimeout
    SlurmdTimeout SlurmSchedLogLevel SuspendRate SuspendTimeout TCPTimeout TreeWidth UnkillableStepTimeout
    VSizeFactor WaitTime EpilogTimeout>=25.05 PrologTimeout>=25.05 HealthCheckTimeout>=26.05
  `,
  BOOLEAN: `
    AccountingStoreJobComment AllowSpecResourcesUsage DisableRootJobs PriorityFavorSmall TrackWCKey UsePAM
  `,
  UINT32: `
    DefaultStoragePort<21.08 EpilogMsgTime FirstJobId JobCompPort KeepAliveTime>=22.05 MaxArraySize MaxDBDMsgs
    MaxJobCount MaxJobId MaxStepCount MinJobAge PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare
    PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS SlurmdPort MaxNodeCount>=22.05
    MaxBatchRequeue>=23.02
  `,
  UINT64: 'DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode MaxMemPerCPU MaxMemPerNode',
  LIST: `
    Epilog>=24.05 EpilogSlurmctld>=24.05 Prolog>=24.05 PrologSlurmctld>=24.05 DownNodes FrontendName<25.05 NodeName
    NodeSet PartitionName SlurmctldHost PowerAction>=26.05
  `,
})

/** Keys of a line that starts with NodeName. */
export const NODE_KEYS = keyTable({
  STRING: `
    BcastAddr CPUSpecList CpuBind Feature Features Gres NodeAddr NodeHostname Port Reason State TRESWeights
    Topology>=25.05 GresConf>=25.11 Parameters>=25.11 SuspendTime>=26.05
  `,
  UINT16: `
    Boards CoreSpecCount CoresPerSocket CPUs Procs Sockets SocketsPerBoard ThreadsPerCore
    RestrictedCoresPerGPU>=24.05
  `,
  UINT64: 'MemSpecLimit RealMemory',
  UINT32: 'TmpDisk Weight',
})

/** Keys of a line that starts with PartitionName. */
export const PARTITION_KEYS = keyTable({
  STRING: `
    AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind DefaultTime DenyAccounts DenyQos MaxTime Nodes
    OverSubscribe OverTimeLimit PreemptMode QOS SelectTypeParameters Shared State TRESBillingWeights
    SuspendTime>=22.05 Topology>=25.05 Exclusive>=26.05
  `,
  UINT64: 'DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode MaxMemPerCPU MaxMemPerNode',
  BOOLEAN: `
    Default DisableRootJobs ExclusiveUser Hidden LLN RootOnly ReqResv PowerDownOnIdle>=23.02 ExclusiveTopo>=24.05
  `,
  UINT32: 'GraceTime MaxCPUsPerNode MaxNodes MinNodes SuspendTime>=21.08<22.05 MaxCPUsPerSocket>=23.02',
  UINT16: 'Priority PriorityJobFactor PriorityTier ResumeTimeout>=21.08 SuspendTimeout>=21.08',
})

/** Keys of a line that starts with DownNodes. */
export const DOWN_NODES_KEYS = keyTable({
  STRING: 'Reason State',
})

/** Keys of a line that starts with NodeSet. */
export const NODE_SET_KEYS = keyTable({
  STRING: 'Feature Nodes',
})

/** Keys of a line that starts with FrontendName. */
export const FRONTEND_KEYS = keyTable({
  STRING: `
    AllowGroups<25.05 AllowUsers<25.05 DenyGroups<25.05 DenyUsers<25.05 FrontendAddr<25.05 Reason<25.05 State<25.05
  `,
  UINT16: 'Port<25.05',
})

/** Keys of a line of gres.conf that starts with Name or NodeName. */
export const GRES_KEYS = keyTable({
  STRING: 'AutoDetect Count CPUs Cores File Files Flags Link Links MultipleFiles Name Type',
})

/** Keys of gres.conf. */
export const GRES_CONF_KEYS = keyTable({
  STRING: 'AutoDetect',
  LIST: 'Name NodeName',
})

/** Keys of cgroup.conf. */
export const CGROUP_CONF_KEYS = keyTable({
  BOOLEAN: `
    CgroupAutomount ConstrainCores TaskAffinity<22.05 ConstrainRAMSpace ConstrainSwapSpace ConstrainKmemSpace<23.11
    MemoryLimitEnforcement ConstrainDevices IgnoreSystemd>=22.05 IgnoreSystemdOnFailure>=22.05
    RootOwnedCgroups>=23.02<23.11 EnableControllers>=23.02 SignalChildrenProcesses>=23.11 CgroupJobIdPaths>=26.05
  `,
  STRING: `
    CgroupMountpoint CgroupReleaseAgentDir<25.11 AllowedDevicesFile CgroupPlugin>=21.08
    EnableExtraControllers>=25.05 CgroupSlice>=25.11
  `,
  FLOAT: `
    AllowedRAMSpace MaxRAMPercent AllowedKmemSpace<23.11 MaxKmemPercent<23.11 AllowedSwapSpace MaxSwapPercent
    MemoryLimitThreshold
  `,
  UINT64: 'MinRAMSpace MinKmemSpace<23.11 MemorySwappiness SystemdTimeout>=24.05',
})

/** Keys of a line that starts with SwitchName. */
export const SWITCH_KEYS = keyTable({
  UINT32: 'LinkSpeed',
  STRING: 'Nodes Switches',
})

/** Keys of a line that starts with BlockName. */
export const BLOCK_KEYS = keyTable({
  STRING: 'Nodes>=23.11',
})

/** Keys of topology.conf. */
export const TOPOLOGY_CONF_KEYS = keyTable({
  LIST: 'SwitchName BlockName>=23.11',
  STRING: 'BlockLevels>=23.11<24.05 BlockSizes>=24.05',
})
