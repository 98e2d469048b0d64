import type { AcceleratorReport, Heartbeat } from '@muster/protocol'
import { builder } from '../../builder.ts'
import { AcceleratorHealth } from '../nodes/accelerators/enums.ts'
import { InterfaceKind, ReportedHealth } from './enums.ts'

/** The protocol counts memory and storage in units of 1024³ bytes. */
const GIB = 1024 ** 3

type Amount = { total: number | null; available: number | null; allocated: number | null }
type Resource = 'cpu_cores' | 'memory_gb' | 'gpus' | 'storage_gb'

function amount(capacity: Heartbeat['capacity'], resource: Resource, unit = 1): Amount {
  const of = (what: string) => {
    const value = (capacity as Record<string, number | null | undefined> | undefined)?.[`${resource}_${what}`]
    return value == null ? null : value * unit
  }
  return { total: of('total'), available: of('available'), allocated: of('allocated') }
}

const Capacity = builder.objectRef<Amount>('AgentReportedCapacity').implement({
  description: 'How much of a resource a node has. Values that were not reported are null.',
  fields: (t) => ({
    total: t.expose('total', { type: 'BigInt', nullable: true, description: 'Total amount.' }),
    available: t.expose('available', { type: 'BigInt', nullable: true, description: 'Amount available to new jobs.' }),
    allocated: t.expose('allocated', { type: 'BigInt', nullable: true, description: 'Amount allocated to jobs.' }),
  }),
})

const Jobs = builder.objectRef<NonNullable<Heartbeat['jobs']>>('AgentReportedJobs').implement({
  description: 'Jobs of the scheduler on a node. Counts that were not reported are null.',
  fields: (t) => ({
    running: t.int({ nullable: true, description: 'Running jobs.', resolve: (jobs) => jobs.running_count }),
    pending: t.int({ nullable: true, description: 'Pending jobs.', resolve: (jobs) => jobs.pending_count }),
    completed24h: t.int({
      nullable: true,
      description: 'Jobs completed in the last 24 hours.',
      resolve: (jobs) => jobs.completed_24h,
    }),
    failed24h: t.int({ nullable: true, description: 'Jobs failed in the last 24 hours.', resolve: (jobs) => jobs.failed_24h }),
  }),
})

const Accelerator = builder.objectRef<AcceleratorReport>('AgentReportedAccelerator').implement({
  description: 'An accelerator as reported by the agent. Values that were not reported are null.',
  fields: (t) => ({
    index: t.int({ nullable: true, description: 'Index in the tool of the vendor.', resolve: (each) => each.index }),
    vendor: t.string({ nullable: true, description: 'Vendor.', resolve: (each) => each.vendor }),
    model: t.string({ nullable: true, description: 'Model.', resolve: (each) => each.model }),
    uuid: t.string({ nullable: true, description: 'UUID from the vendor.', resolve: (each) => each.uuid }),
    pciAddress: t.string({ nullable: true, description: 'PCI address.', resolve: (each) => each.pci_address }),
    health: t.field({
      type: AcceleratorHealth,
      nullable: true,
      description: 'Health.',
      resolve: (each) => each.health,
    }),
    memoryTotalBytes: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Total memory.',
      resolve: (each) => each.memory_total_bytes,
    }),
    memoryUsedBytes: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Used memory.',
      resolve: (each) => each.memory_used_bytes,
    }),
    utilizationPercent: t.float({ nullable: true, description: 'Utilization.', resolve: (each) => each.utilization_percent }),
    temperatureCelsius: t.float({ nullable: true, description: 'Temperature.', resolve: (each) => each.temperature_celsius }),
    powerWatts: t.float({ nullable: true, description: 'Power draw.', resolve: (each) => each.power_watts }),
    eccCorrected: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Corrected ECC errors.',
      resolve: (each) => each.ecc_corrected,
    }),
    eccUncorrected: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Uncorrected ECC errors.',
      resolve: (each) => each.ecc_uncorrected,
    }),
  }),
})

type NetworkInterface = NonNullable<Heartbeat['interfaces']>[number]
const Interface = builder.objectRef<NetworkInterface>('AgentReportedInterface').implement({
  description: 'A network interface as reported by the agent. Values that were not reported are null.',
  fields: (t) => ({
    name: t.string({ description: 'Name in the operating system.', resolve: (each) => each.name }),
    kind: t.field({ type: InterfaceKind, nullable: true, description: 'Kind of network.', resolve: (each) => each.kind }),
    state: t.string({
      nullable: true,
      description: 'Link state as the operating system reports it, for example `up` or `active`.',
      resolve: (each) => each.state,
    }),
    speedMbps: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Link speed in Mbit/s.',
      resolve: (each) => each.speed_mbps,
    }),
    errors: t.field({ type: 'BigInt', nullable: true, description: 'Error count.', resolve: (each) => each.errors }),
  }),
})

const decimal = (text: string | null | undefined) => (text == null ? null : Number(text))

/** The stored JSON passed the schema of the protocol; fields may be missing in reports of older agents. */
export const AgentReport = builder.objectRef<Partial<Heartbeat>>('AgentReport').implement({
  description: 'The last heartbeat of an agent. Values that were not reported are null.',
  fields: (t) => ({
    sentAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the heartbeat was sent, by the clock of the agent.',
      resolve: ({ timestamp }) => (timestamp ? new Date(timestamp) : null),
    }),
    measuredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the values were measured, if the heartbeat was delivered late.',
      resolve: ({ measured_at: at }) => (at ? new Date(at) : null),
    }),
    agentVersion: t.string({ nullable: true, description: 'Version of the agent.', resolve: (report) => report.agent_version }),
    hardwareFingerprint: t.string({
      nullable: true,
      description: 'Hardware fingerprint of the node.',
      resolve: (report) => report.hardware_fingerprint,
    }),
    health: t.field({
      type: ReportedHealth,
      nullable: true,
      description: 'Health of the node.',
      resolve: ({ health }) => health?.status ?? null,
    }),
    healthReasons: t.stringList({
      description: 'Reasons of a health other than HEALTHY. At most 64.',
      resolve: ({ health }) => health?.reasons ?? [],
    }),
    lastErrorMessage: t.string({
      nullable: true,
      description: 'Last error on the node.',
      resolve: ({ health }) => health?.last_error_message,
    }),
    uptimeSeconds: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Time since the node started.',
      resolve: ({ health }) => health?.uptime_seconds,
    }),
    loadAverages: t.floatList({
      nullable: { list: true, items: true },
      description: 'Load averages of 1, 5 and 15 minutes, in this order; null for one that was not reported. At most 3.',
      resolve: ({ health }) =>
        health ? [health.load_average_1m, health.load_average_5m, health.load_average_15m].map(decimal) : null,
    }),
    cpuPercent: t.float({
      nullable: true,
      description: 'CPU utilization.',
      resolve: ({ health }) => health?.cpu_utilization_percent,
    }),
    memoryPercent: t.float({
      nullable: true,
      description: 'Memory utilization.',
      resolve: ({ health }) => health?.memory_utilization_percent,
    }),
    acceleratorPercent: t.float({
      nullable: true,
      description: 'Mean accelerator utilization.',
      resolve: ({ health }) => health?.gpu_utilization_percent,
    }),
    temperatureCelsius: t.float({
      nullable: true,
      description: 'Temperature of the node.',
      resolve: ({ health }) => health?.temperature_celsius,
    }),
    cpuCores: t.field({ type: Capacity, description: 'CPU cores.', resolve: ({ capacity }) => amount(capacity!, 'cpu_cores') }),
    memoryBytes: t.field({
      type: Capacity,
      description: 'Memory in bytes.',
      resolve: ({ capacity }) => amount(capacity!, 'memory_gb', GIB),
    }),
    storageBytes: t.field({
      type: Capacity,
      description: 'Storage in bytes.',
      resolve: ({ capacity }) => amount(capacity!, 'storage_gb', GIB),
    }),
    acceleratorCounts: t.field({
      type: Capacity,
      description: 'Number of accelerators.',
      resolve: ({ capacity }) => amount(capacity!, 'gpus'),
    }),
    jobs: t.field({ type: Jobs, nullable: true, description: 'Jobs on the node.', resolve: ({ jobs }) => jobs ?? null }),
    accelerators: t.field({
      type: [Accelerator],
      description: 'Accelerators. At most 512.',
      resolve: ({ accelerators }) => accelerators ?? [],
    }),
    interfaces: t.field({
      type: [Interface],
      description: 'Network interfaces. At most 256.',
      resolve: ({ interfaces }) => interfaces ?? [],
    }),
  }),
})
