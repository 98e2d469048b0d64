import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { Heartbeat } from '@muster/protocol'
import { afterEach, expect, test, vi } from 'vitest'
import { createTempDir, writeFiles } from '../../test/temp-files.ts'
import { readConfig } from '../config.ts'
import { hardwareFingerprint } from '../fingerprint.ts'
import { HostReader } from './host.ts'
import { createCollector } from './index.ts'
import { readInterfaces } from './interfaces.ts'
import { KernelLog } from './kernel-log.ts'
import { defaultGateway, measureLatency, parseTarget } from './latency.ts'
import { cpuTemperature, memoryErrors } from './sensors.ts'
import { createSlurmReader, parseEnded, parseNode, parseQueue } from './slurm.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.resetModules()
})

const stat = (...counters: number[]) =>
  `cpu  ${counters.join(' ')}\ncpu0 ${counters.join(' ')}\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 1\n`
const createMachine = () =>
  writeFiles(createTempDir(), {
    '/proc/stat': stat(100, 0, 100, 800, 0, 0, 0, 0, 0, 0),
    '/proc/meminfo': 'MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    4194304 kB\n',
    '/proc/loadavg': '0.50 1.25 2.00 1/100 7\n',
    '/proc/uptime': '86400.12 1.0\n',
    '/proc/net/route': 'Iface\tDestination\tGateway\tFlags\nib0\t0000000A\t00000000\t0001\neth0\t00000000\t0102030A\t0003\n',
    '/proc/sys/kernel/random/boot_id': 'b00t\n',
    '/sys/class/net/eth0/device/uevent': '',
    '/sys/class/net/eth0/address': '02:00:00:00:00:01\n',
    '/sys/class/net/eth0/addr_assign_type': '0\n',
    '/sys/class/net/eth0/operstate': 'up\n',
    '/sys/class/net/eth0/speed': '1000\n',
    '/sys/class/net/eth0/type': '1\n',
    '/sys/class/net/eth0/statistics/rx_bytes': '0\n',
    '/sys/class/net/eth0/statistics/tx_bytes': '0\n',
    '/sys/class/net/eth0/statistics/rx_errors': '3\n',
    '/sys/class/net/eth0/statistics/tx_errors': '4\n',
    '/sys/class/net/veth0/operstate': 'up\n',
    '/sys/class/infiniband/mlx5_0/node_guid': 'b859:9f03:0012:3456\n',
    '/sys/class/infiniband/mlx5_0/ports/1/state': '4: ACTIVE\n',
    '/sys/class/infiniband/mlx5_0/ports/1/rate': '200 Gb/sec (4X HDR)\n',
    '/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error': '2\n',
    '/sys/class/hwmon/hwmon0/name': 'nvme\n',
    '/sys/class/hwmon/hwmon0/temp1_input': '90000\n',
    '/sys/class/hwmon/hwmon1/name': 'coretemp\n',
    '/sys/class/hwmon/hwmon1/temp1_input': '51000\n',
    '/sys/class/hwmon/hwmon1/temp2_input': '61500\n',
    '/sys/devices/system/edac/mc/mc0/ce_count': '5\n',
    '/sys/devices/system/edac/mc/mc0/ue_count': '0\n',
    '/sys/class/dmi/id/product_uuid': '4C4C4544-0000-2010-8020-80C04F202020\n',
    '/sys/class/dmi/id/product_serial': 'To be filled by O.E.M.\n',
  })

test('computes rates from counter deltas; the first reading has none', () => {
  const root = createMachine()
  const host = new HostReader(root, '/')
  writeFiles(root, {
    '/proc/stat': stat(150, 0, 110, 820, 10, 0, 0, 10, 0, 0),
    '/sys/class/net/eth0/statistics/rx_bytes': '999999999999\n',
  })
  const { cores, memory, health } = host.read()
  expect({ cores, memory }).toEqual({ cores: 2, memory: { total: 16, available: 4 } })
  expect(health).toMatchObject({
    cpu_utilization_percent: 70,
    cpu_iowait_percent: 10,
    cpu_steal_percent: 10,
    memory_utilization_percent: 75,
    network_utilization_percent: 100,
    load_average_1m: '0.500000',
    uptime_seconds: 86400,
    boot_id: 'b00t',
  })
  expect(host.read().health).toMatchObject({ cpu_utilization_percent: null, cpu_iowait_percent: null })
})

test('returns null for unknown values', () => {
  const root = createTempDir()
  const { cores, memory, storage, health } = new HostReader(root, '/none').read()
  expect([cores, memory, storage]).toEqual([null, null, null])
  expect(new Set(Object.values(health))).toEqual(new Set([null]))
  expect([cpuTemperature(root), defaultGateway(root), readInterfaces(root), hardwareFingerprint(root, 'c')]).toEqual([
    null,
    null,
    [],
    null,
  ])
  expect(memoryErrors(root)).toEqual({ memory_ecc_corrected: null, memory_ecc_uncorrected: null })
})

test('reads sensors, interfaces and the gateway', () => {
  const root = createMachine()
  expect(cpuTemperature(root)).toBe(61.5)
  expect(memoryErrors(root)).toEqual({ memory_ecc_corrected: 5, memory_ecc_uncorrected: 0 })
  expect(defaultGateway(root)).toBe('10.3.2.1')
  expect(readInterfaces(root)).toEqual([
    { name: 'eth0', kind: 'ethernet', state: 'up', speed_mbps: 1000, errors: 7 },
    { name: 'mlx5_0/1', kind: 'infiniband', state: 'active', speed_mbps: 200_000, errors: 2 },
  ])
})

test('the fingerprint differs between machines and ignores disks and bonds', () => {
  const [one, other] = [createMachine(), createMachine()]
  const fingerprint = hardwareFingerprint(one, 'c')
  expect(fingerprint).toMatch(/^[\da-f]{64}$/)
  expect(hardwareFingerprint(other, 'c')).toBe(fingerprint)
  writeFiles(one, { '/sys/block/sda/device/serial': 'new', '/sys/class/net/bond0/address': '02:00:00:00:00:09' })
  expect(hardwareFingerprint(one, 'c')).toBe(fingerprint)
  expect(hardwareFingerprint(one, 'another cluster')).not.toBe(fingerprint)
  writeFiles(other, { '/sys/class/net/eth0/address': '02:00:00:00:00:02\n' })
  expect(hardwareFingerprint(other, 'c')).not.toBe(fingerprint)
})

test('counts kernel errors only when the log covers 24 hours', () => {
  const file = `${createTempDir()}/kmsg`
  const record = (priority: number, sequence: number, seconds: number, text: string) =>
    `${priority},${sequence},${seconds * 1e6},-;${text}\n`
  // /dev/kmsg returns one record per read. A file returns all records; the reader parses the first.
  fs.writeFileSync(file, record(3, 0, 10, 'NVRM: Xid (PCI:0000:3B:00): 79, GPU has fallen off the bus.'))
  const now = new Date('2026-01-02T00:00:00Z')
  expect(new KernelLog(file).read(now, 3600)).toEqual({
    error_count_24h: 1,
    warning_count_24h: 0,
    last_error_message: 'NVRM: Xid (PCI:0000:3B:00): 79, GPU has fallen off the bus.',
    xids: [{ pci_address: '0000:3b:00', code: 79, at: '2026-01-01T23:00:10.000Z' }],
  })
  fs.writeFileSync(file, record(4, 900, 3000, 'something'))
  expect(new KernelLog(file).read(now, 3600)).toMatchObject({ error_count_24h: null, warning_count_24h: null })
  fs.writeFileSync(file, record(4, 900, 100, 'something'))
  expect(new KernelLog(file).read(now, 100_000)).toMatchObject({ error_count_24h: 0, warning_count_24h: 0 })
  expect(new KernelLog('/none').read(now, 1)).toMatchObject({ error_count_24h: null, xids: null })
})

test('counts a refused connection as a response and an unreachable host as a loss', async () => {
  const server = net.createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  const reachable = await measureLatency([parseTarget(`127.0.0.1:${port}`, 22)], parseTarget('127.0.0.1', port))
  server.close()
  expect(reachable.measurements[0]).toMatchObject({ packet_loss_percent: 0, latency_us: expect.any(Number) })
  expect([reachable.gateway_latency_us, reachable.avg_cluster_latency_us]).toEqual([
    expect.any(Number),
    reachable.measurements[0]!.latency_us,
  ])
  const { measurements } = await measureLatency([parseTarget('127.0.0.1:1', 22), parseTarget('none.invalid', 22)], null)
  expect(measurements.map(({ packet_loss_percent }) => packet_loss_percent)).toEqual([0, 100])
  expect(measurements[1]!.latency_us).toBeNull()
})

test.each([
  ['node-2', 'node-2', 22],
  ['node-2:7', 'node-2', 7],
  ['[fe80::1]:7', 'fe80::1', 7],
])('parses the target %s', (name, host, port) => {
  expect(parseTarget(name, 22)).toEqual({ name, host, port })
})

// Format of Slurm 22.05.
const NODE =
  'NodeName=n1 Arch=x86_64 CoresPerSocket=1  CPUAlloc=6 CPUEfctv=8 CPUTot=8 CPULoad=2.38 Gres=gpu:a100:8 NodeAddr=n1 Version=22.05.8 RealMemory=8000 AllocMem=2048 State=MIXED+DRAIN ThreadsPerCore=1 CfgTRES=cpu=8,mem=8000M AllocTRES=cpu=6,mem=2G,gres/gpu=4 Reason=x'

const ROUTES = [
  // loopback, a default route without gateway, two default gateways (the second has the lower metric), a network
  '00000000000000000000000000000001 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000002 00000000 80200001       lo',
  '00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo',
  '00000000000000000000000000000000 00 00000000000000000000000000000000 00 20010db8000000000000000000000001 00000400 00000004 00000000 00000003     eth1',
  '00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000064 00000004 00000000 00450003     eth0',
  '20010db8000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth1',
]

test('reads the IPv6 gateway on a node without an IPv4 gateway', () => {
  const root = createTempDir()
  writeFiles(root, { '/proc/net/ipv6_route': `${ROUTES.join('\n')}\n` })
  expect(defaultGateway(root)).toBe('fe80:0000:0000:0000:0000:0000:0000:0001%eth0')
  writeFiles(root, { '/proc/net/ipv6_route': `${ROUTES.filter((line) => !line.includes('fe80')).join('\n')}\n` })
  expect(defaultGateway(root)).toBe('2001:0db8:0000:0000:0000:0000:0000:0001')
  writeFiles(root, { '/proc/net/ipv6_route': `${ROUTES[0]}\n${ROUTES[1]}\n` })
  expect(defaultGateway(root)).toBeNull()
})

test('measures the latency of an IPv6 gateway', async () => {
  const server = net.createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '::1', resolve))
  const host = '0000:0000:0000:0000:0000:0000:0000:0001'
  const { port } = server.address() as net.AddressInfo
  const { gateway_latency_us } = await measureLatency([], { name: host, host, port })
  server.close()
  expect(gateway_latency_us).toEqual(expect.any(Number))
})

test('parses scontrol and squeue', () => {
  expect(parseNode(NODE)).toMatchObject({
    state: 'MIXED+DRAIN',
    cpusAllocated: 6,
    memoryAllocatedMb: 2048,
    gpusAllocated: 4,
    version: '22.05.8',
  })
  expect(parseNode(NODE.replace(/ AllocTRES=\S+/, ' AllocTRES=')).gpusAllocated).toBe(0)
  expect(parseNode('Node n1 not found')).toMatchObject({ state: null, cpusAllocated: null, gpusAllocated: null })
  expect(parseQueue('12|RUNNING\n13|PENDING\nslurm_load_jobs error\n')).toEqual([
    { id: '12', state: 'RUNNING' },
    { id: '13', state: 'PENDING' },
  ])
})

test('counts finished jobs by state', () => {
  expect(parseEnded('COMPLETED\nFAILED\nTIMEOUT\nCANCELLED by 1000\nCOMPLETED\n')).toEqual({ completed: 2, failed: 2 })
  expect(parseEnded('')).toEqual({ completed: 0, failed: 0 })
})

/** Collects with fake Slurm tools; `scripts` maps a tool to its shell script. */
async function collectJobs(scripts: Record<string, string>, hostRoot = createTempDir()) {
  const bin = createTempDir()
  for (const [tool, script] of Object.entries(scripts))
    fs.writeFileSync(path.join(bin, tool), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${bin}:/usr/bin:/bin`)
  // Reload the modules, which cache program paths.
  vi.resetModules()
  const { createCollector: create } = await import('./index.ts')
  const { config } = readConfig(['--config', '/dev/null', '--host-root', hostRoot, '--slurm-node-name', 'n1'])
  return (await create(config, 'c')()).jobs
}
const SCONTROL = `echo '${NODE} Partitions=gpu,all '`
const SQUEUE = `case "$*" in
  *--nodelist=n1*) printf '12|RUNNING\\n11|COMPLETED\\n' ;;
  *--partition=gpu,all*--states=PENDING*) printf '13|PENDING\\n14|PENDING\\n' ;;
  *) exit 1 ;;
esac`

test('reports pending and finished jobs as Slurm counts them, and null where Slurm does not answer', async () => {
  const sacct = `case "$*" in *--nodelist=n1*) printf 'COMPLETED\\nCOMPLETED\\nFAILED\\nCANCELLED by 0\\n' ;; *) exit 1 ;; esac`
  const known = { running_count: 1, pending_count: 2, active_job_ids: ['12'] }
  expect(await collectJobs({ scontrol: SCONTROL, squeue: SQUEUE, sacct })).toEqual({ ...known, completed_24h: 2, failed_24h: 1 })
  const noAccounting = 'echo "Slurm accounting storage is disabled" >&2; exit 1'
  expect(await collectJobs({ scontrol: SCONTROL, squeue: SQUEUE, sacct: noAccounting })).toEqual({
    ...known,
    completed_24h: null,
    failed_24h: null,
  })
  expect(await collectJobs({ scontrol: 'exit 1', squeue: SQUEUE, sacct: noAccounting })).toMatchObject({
    running_count: 1,
    pending_count: null,
  })
  const unknown = { running_count: null, pending_count: null, completed_24h: null, failed_24h: null, active_job_ids: null }
  expect(await collectJobs({ slurmd: 'exit 1' })).toEqual(unknown)
  // slurmd that runs from a folder outside of PATH, and a step that outlives it.
  for (const comm of ['slurmd', 'slurmstepd'])
    expect(await collectJobs({}, writeFiles(createTempDir(), { '/proc/7/comm': `${comm}\n` }))).toEqual(unknown)
})

test('a node without slurmd has no jobs, also with the tools of Slurm', async () => {
  const none = { running_count: 0, active_job_ids: [], pending_count: null }
  expect(await collectJobs({})).toMatchObject({ ...none, completed_24h: null })
  const login = { scontrol: 'exit 1', squeue: 'exit 1', sacct: 'exit 0' }
  expect(await collectJobs(login)).toMatchObject({ ...none, completed_24h: 0 })
  expect(await collectJobs({ scontrol: SCONTROL })).toMatchObject({ running_count: null })
})

test('reads running jobs from cgroups when the Slurm tools fail', async () => {
  const scope = '/sys/fs/cgroup/system.slice/slurmstepd.scope'
  const root = writeFiles(createTempDir(), {
    [`${scope}/job_7/cpuset.cpus`]: '0-3,8\n',
    [`${scope}/job_8/cpuset.cpus`]: '3-4\n',
    [`${scope}/system/x`]: '',
  })
  expect(await createSlurmReader(root, 'n1')()).toMatchObject({ state: null, cpusAllocated: 6, jobs: [{ id: '7' }, { id: '8' }] })
  expect(await createSlurmReader(createTempDir(), 'n1')()).toBeNull()
})

test('collects a valid heartbeat on this machine and on one without information', async () => {
  for (const hostRoot of ['', createTempDir()]) {
    const { config } = readConfig(['--config', '/dev/null', '--host-root', hostRoot])
    const collect = createCollector(config, 'c')
    await collect()
    const measured = await collect(['the disk is full'])
    const names = { node_id: 'node-1', cluster_id: 'c', sequence_number: 1, timestamp: '2026-01-01T00:00:00Z' }
    expect(Heartbeat.safeParse({ ...names, ...measured }).error).toBeUndefined()
    expect(measured.health.status).not.toBe('healthy')
    expect(measured.health.reasons).toContain('the disk is full')
  }
})
