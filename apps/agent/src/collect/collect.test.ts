import fs from 'node:fs'
import net from 'node:net'
import { Heartbeat } from '@muster/protocol'
import { expect, test } from 'vitest'
import { folder, plant } from '../../test/tree.ts'
import { readConfig } from '../config.ts'
import { fingerprint } from '../fingerprint.ts'
import { Host } from './host.ts'
import { collector } from './index.ts'
import { KernelLog } from './kernel-log.ts'
import { gateway, latency, target } from './latency.ts'
import { links } from './links.ts'
import { cpuTemperature, memoryErrors } from './sensors.ts'
import { parseNode, parseQueue, slurmReader } from './slurm.ts'

const stat = (...counters: number[]) =>
  `cpu  ${counters.join(' ')}\ncpu0 ${counters.join(' ')}\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 1\n`
const machine = () =>
  plant(folder(), {
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

test('rates are what counters grew by, and the first look has none', () => {
  const root = machine()
  const host = new Host(root, '/')
  plant(root, {
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

test('what a machine does not tell is null', () => {
  const root = folder()
  const { cores, memory, storage, health } = new Host(root, '/none').read()
  expect([cores, memory, storage]).toEqual([null, null, null])
  expect(new Set(Object.values(health))).toEqual(new Set([null]))
  expect([cpuTemperature(root), gateway(root), links(root), fingerprint(root, 'c')]).toEqual([null, null, [], null])
  expect(memoryErrors(root)).toEqual({ memory_ecc_corrected: null, memory_ecc_uncorrected: null })
})

test('sensors, links and the gateway', () => {
  const root = machine()
  expect(cpuTemperature(root)).toBe(61.5)
  expect(memoryErrors(root)).toEqual({ memory_ecc_corrected: 5, memory_ecc_uncorrected: 0 })
  expect(gateway(root)).toBe('10.3.2.1')
  expect(links(root)).toEqual([
    { name: 'eth0', kind: 'ethernet', state: 'up', speed_mbps: 1000, errors: 7 },
    { name: 'mlx5_0/1', kind: 'infiniband', state: 'active', speed_mbps: 200_000, errors: 2 },
  ])
})

test('the fingerprint tells machines of one kind apart, and stays when a disk or a bond changes', () => {
  const [one, other] = [machine(), machine()]
  const print = fingerprint(one, 'c')
  expect(print).toMatch(/^[\da-f]{64}$/)
  expect(fingerprint(other, 'c')).toBe(print)
  plant(one, { '/sys/block/sda/device/serial': 'new', '/sys/class/net/bond0/address': '02:00:00:00:00:09' })
  expect(fingerprint(one, 'c')).toBe(print)
  expect(fingerprint(one, 'another cluster')).not.toBe(print)
  plant(other, { '/sys/class/net/eth0/address': '02:00:00:00:00:02\n' })
  expect(fingerprint(other, 'c')).not.toBe(print)
})

test('errors of the kernel are counted where the log goes back far enough', () => {
  const file = `${folder()}/kmsg`
  const record = (priority: number, sequence: number, seconds: number, text: string) =>
    `${priority},${sequence},${seconds * 1e6},-;${text}\n`
  // A real kmsg gives one record to a read; a file gives all, of which the first is looked at.
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

test('a refusal is an answer, and a machine that is not there is a loss', async () => {
  const server = net.createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  const here = await latency([target(`127.0.0.1:${port}`, 22)], target('127.0.0.1', port))
  server.close()
  expect(here.measurements[0]).toMatchObject({ packet_loss_percent: 0, latency_us: expect.any(Number) })
  expect([here.gateway_latency_us, here.avg_cluster_latency_us]).toEqual([expect.any(Number), here.measurements[0]!.latency_us])
  const { measurements } = await latency([target('127.0.0.1:1', 22), target('none.invalid', 22)], null)
  expect(measurements.map(({ packet_loss_percent }) => packet_loss_percent)).toEqual([0, 100])
  expect(measurements[1]!.latency_us).toBeNull()
})

test.each([
  ['node-2', 'node-2', 22],
  ['node-2:7', 'node-2', 7],
  ['[fe80::1]:7', 'fe80::1', 7],
])('target %s', (name, host, port) => {
  expect(target(name, 22)).toEqual({ name, host, port })
})

// In the shape of Slurm 22.05.
const NODE =
  'NodeName=n1 Arch=x86_64 CoresPerSocket=1  CPUAlloc=6 CPUEfctv=8 CPUTot=8 CPULoad=2.38 Gres=gpu:a100:8 NodeAddr=n1 Version=22.05.8 RealMemory=8000 AllocMem=2048 State=MIXED+DRAIN ThreadsPerCore=1 CfgTRES=cpu=8,mem=8000M AllocTRES=cpu=6,mem=2G,gres/gpu=4 Reason=x'

test('what Slurm says', () => {
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

test('without its tools the cgroups of jobs still tell', async () => {
  const scope = '/sys/fs/cgroup/system.slice/slurmstepd.scope'
  const root = plant(folder(), {
    [`${scope}/job_7/cpuset.cpus`]: '0-3,8\n',
    [`${scope}/job_8/cpuset.cpus`]: '3-4\n',
    [`${scope}/system/x`]: '',
  })
  expect(await slurmReader(root, 'n1')()).toMatchObject({ state: null, cpusAllocated: 6, jobs: [{ id: '7' }, { id: '8' }] })
  expect(await slurmReader(folder(), 'n1')()).toBeNull()
})

test('all of it is a beat, on this machine and on one that tells nothing', async () => {
  for (const hostRoot of ['', folder()]) {
    const { config } = readConfig(['--config', '/dev/null', '--host-root', hostRoot])
    const collect = collector(config, 'c')
    await collect()
    const measured = await collect(['the disk is full'])
    const names = { node_id: 'node-1', cluster_id: 'c', sequence_number: 1, timestamp: '2026-01-01T00:00:00Z' }
    expect(Heartbeat.safeParse({ ...names, ...measured }).error).toBeUndefined()
    expect(measured.health.status).not.toBe('healthy')
    expect(measured.health.reasons).toContain('the disk is full')
    expect(measured.jobs).toMatchObject({ completed_24h: null, failed_24h: null })
  }
})
