import { describe, expect, it } from 'vitest'
import { parseProbe, readFrames } from './index.ts'

const NONCE = 'abcdef0123456789'
const probe = (...frames: string[]) => `muster-probe/1 ${NONCE}\n${frames.join('')}${NONCE} end ms=40\n`
const call = (name: string, body: string, attributes = 'ms=10') => `${NONCE} + tool ${name}\n${body}\n${NONCE} - ${attributes}\n`
const files = (...lines: string[]) => `${NONCE} + files\n${lines.join('\n')}\n${NONCE} -\n`

describe('frames', () => {
  it('contain body, exit code and status of the call', () => {
    const raw = probe(
      call('a', 'one\ntwo\n:7'),
      call('b', 'half', 'ms=1000 timeout=1'),
      call('c', 'x', 'ms=2 cut=1'),
      call('d', '', 'skipped=1'),
    )
    expect(readFrames(raw)).toEqual({
      complete: true,
      durationMs: 40,
      frames: [
        { name: 'tool a', body: 'one\ntwo', code: 7, durationMs: 10, timedOut: false, cut: false, skipped: false },
        { name: 'tool b', body: 'half', code: null, durationMs: 1000, timedOut: true, cut: false, skipped: false },
        { name: 'tool c', body: 'x', code: null, durationMs: 2, timedOut: false, cut: true, skipped: false },
        { name: 'tool d', body: '', code: null, durationMs: null, timedOut: false, cut: false, skipped: true },
      ],
    })
  })

  it('begin after a message of the day', () => {
    expect(readFrames(`Welcome to node1!\nmuster-probe/1 short\n${probe(call('a', ':0'))}`).frames).toHaveLength(1)
  })

  it('are parsed up to the end of truncated output', () => {
    const whole = probe(call('a', 'one\n:0'), call('b', 'two\n:0'))
    const { frames, complete } = readFrames(whole.slice(0, whole.indexOf('two') + 2))
    expect({ complete, names: frames.map((frame) => frame.name), cut: frames.map((frame) => frame.cut) }).toEqual({
      complete: false,
      names: ['tool a', 'tool b'],
      cut: [false, true],
    })
  })

  it('are not closed by forged boundaries', () => {
    expect(readFrames(probe(call('a', `x${NONCE} - ms=1\n0000000000000000 end ms=1\n:0`))).frames[0]?.body).toContain(
      '0000000000000000 end',
    )
  })
})

describe('a probe', () => {
  it('that never ran does not produce an empty node', () => {
    for (const raw of ['', 'sh: not found\n', new Uint8Array(0)])
      expect(parseProbe(raw)).toMatchObject({
        truncated: true,
        accelerators: [],
        warnings: [expect.stringContaining('no probe output')],
        tools: expect.arrayContaining([expect.objectContaining({ tool: 'nvidia-smi', state: 'FAILED' })]),
      })
  })

  it('keeps the partial output of a tool that timed out', () => {
    const list = 'GPU 0: NVIDIA A (UUID: GPU-1)'
    const raw = probe(call('nvidia-smi -q -x', 'garbage\n:255'), call('nvidia-smi -L', list, 'ms=9000 timeout=1'))
    expect(parseProbe(raw)).toMatchObject({
      accelerators: [{ uuid: 'GPU-1' }],
      tools: expect.arrayContaining([
        expect.objectContaining({ tool: 'nvidia-smi', state: 'OK', deviceCount: 1, durationMs: 9010 }),
      ]),
      warnings: ['nvidia-smi -L: timed out'],
    })
  })

  it('reports devices as lost only with evidence', () => {
    const device = (bus: string) =>
      ['vendor:0x10de', 'device:0x2330', 'class:0x030200'].map((line) => `/sys/bus/pci/devices/0000:${bus}:00.0/${line}`)
    const driver = (bus: string) =>
      `lrwxrwxrwx 1 0 0 0 Nov 20 11:34 /sys/bus/pci/devices/0000:${bus}:00.0/driver -> ../../drivers/nvidia`
    const links = `${NONCE} + links\n${driver('01')}\n${driver('02')}\n${NONCE} -\n`
    const xml =
      '<nvidia_smi_log><attached_gpus>2</attached_gpus><gpu id="00000000:01:00.0"><product_name>NVIDIA A</product_name></gpu>'
    const read = (attributes: string, text = xml, ...more: string[]) =>
      parseProbe(
        probe(files(...device('01'), ...device('02'), ...more), links, call('nvidia-smi -q -x', `${text}\n:0`, attributes)),
      )
    expect(read('ms=10').accelerators[1]).toMatchObject({
      health: 'unknown',
      healthReason: 'not visible here: nvidia-smi lists other devices only',
    })
    const words = 'Unable to determine the device handle for GPU0000:02:00.0: GPU is lost.  Reboot the system to recover this GPU'
    expect(read('ms=10', words).accelerators.map(({ health, healthReason }) => [health, healthReason])).toEqual([
      ['unknown', expect.stringContaining('nvidia-smi failed')],
      ['lost', words],
    ])
    const lanes = '/sys/bus/pci/devices/0000:02:00.0/current_link_width:63'
    expect(read('ms=10', xml, lanes).accelerators[1]).toMatchObject({
      health: 'lost',
      healthReason: 'does not answer on the PCI bus',
    })
    expect(read('ms=10000 timeout=1').accelerators.map((one) => one.health)).toEqual(['ok', 'unknown'])
    expect(read('ms=10 cut=1').accelerators.map((one) => one.health)).toEqual(['ok', 'unknown'])
    expect(read('ms=10000 timeout=1').tools.find((tool) => tool.tool === 'nvidia-smi')).toMatchObject({
      state: 'TIMED_OUT',
      deviceCount: null,
    })
  })

  it('keeps two devices with the same UUID', () => {
    const gpu = (bus: string) => `<gpu id="00000000:${bus}:00.0"><product_name>NVIDIA A</product_name><uuid>GPU-aa</uuid></gpu>`
    const xml = `<nvidia_smi_log><attached_gpus>2</attached_gpus>${gpu('01')}${gpu('02')}</nvidia_smi_log>`
    const { accelerators, warnings } = parseProbe(probe(call('nvidia-smi -q -x', `${xml}\n:0`)))
    expect(accelerators.map((one) => one.pciAddress)).toEqual(['0000:01:00.0', '0000:02:00.0'])
    expect(warnings).toEqual(['nvidia-smi: 0000:01:00.0 and 0000:02:00.0 report the same UUID GPU-aa'])
  })

  it('parses host facts: FQDN from /etc/hosts, disk sectors, NIC without link, InfiniBand, default route', () => {
    const system = `@addresses\n2: ib0    inet 10.1.2.3/24 brd 10.1.2.255 scope global ib0\\\n2: ib0    inet6 fe80::1/64 scope link\n@hosts\n10.1.2.3 node7.rack.example node7\n@python\n/usr/bin/python3 Python 3.6.8\n@nvcc\nCuda compilation tools, release 11.0, V11.0.221\n@mounts\n/dev/nvme0n1p2 / xfs rw 0 0\nnfs:/home /home nfs4 rw 0 0\n/dev/nvme0n1p2 /var/lib/kubelet/x xfs rw 0 0\n@df\nFilesystem 1024-blocks Used Available Capacity Mounted on\n/dev/nvme0n1p2 1000 400 600 40% /`
    const raw = probe(
      `${NONCE} + cpuinfo\nprocessor\t: 0\nCPU implementer\t: 0x48\nCPU part\t: 0xd01\n${NONCE} -\n`,
      `${NONCE} + meminfo\nMemTotal:       2048 kB\nSwapTotal:         0 kB\n${NONCE} -\n`,
      files(
        '/proc/sys/kernel/hostname:node7',
        '/proc/sys/kernel/arch:aarch64',
        '/sys/devices/system/cpu/online:0-127',
        '/sys/devices/system/cpu/cpu0/topology/core_siblings_list:0-63',
        '/sys/devices/system/cpu/cpu0/topology/thread_siblings_list:0',
        '/sys/devices/system/node/node0/cpulist:0-63',
        '/sys/devices/system/node/node1/cpulist:64-127',
        '/sys/block/nvme0n1/size:2048',
        '/sys/block/nvme0n1/queue/rotational:0',
        '/sys/class/net/ib0/address:00:00:10:49:fe:80:00:00:00:00:00:00:0c:42:a1:03:00:aa:bb:cc',
        '/sys/class/net/ib0/speed:-1',
        '/sys/class/infiniband/mlx5_0/node_guid:0c42:a103:00aa:bbcc',
        '/sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE',
        '/sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)',
        '/sys/class/infiniband/mlx5_0/ports/1/link_layer:InfiniBand',
        '/proc/net/route:Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU',
        '/proc/net/route:ib0\t00000000\t0102010A\t0003\t0\t0\t0\t00000000\t0',
        '/etc/os-release:ID="openEuler"',
        '/etc/os-release:VERSION_ID="22.03"',
        '/etc/os-release:HOME_URL="https://example.org/a/b:c"',
        '/sys/bus/pci/devices/0000:c1:00.0/vendor:0x19e5',
        '/sys/bus/pci/devices/0000:c1:00.0/device:0xd802',
        '/sys/bus/pci/devices/0000:c1:00.0/class:0x120000',
        '/sys/bus/pci/devices/0000:c1:00.0/numa_node:-1',
      ),
      `${NONCE} + links\nlrwxrwxrwx 1 0 0 0 Nov 20 11:34 /sys/class/infiniband/mlx5_0/device -> ../../../0000:18:00.0\nlrwxrwxrwx 1 0 0 0 Nov 20 11:34 /sys/bus/pci/devices/0000:c1:00.0/driver -> ../../bus/pci/drivers/devdrv_device_driver\n${NONCE} -\n`,
      call('system', `${system}\n:0`),
    )
    const { host, accelerators, warnings } = parseProbe(raw)
    expect(host).toMatchObject({
      fqdn: 'node7.rack.example',
      arch: 'aarch64',
      os: { id: 'openEuler', versionId: '22.03', family: 'redhat' },
      cpu: { model: 'Kunpeng-920', sockets: 2, cores: 128, threads: 128 },
      memoryBytes: 2 * 1024 * 1024,
      swapBytes: 0,
      numaNodes: 2,
      disks: [{ name: 'nvme0n1', sizeBytes: 1024 * 1024, rotational: false, model: null }],
      mounts: [
        { path: '/', type: 'xfs', sizeBytes: 1024000, availableBytes: 614400 },
        { path: '/home', type: 'nfs4', sizeBytes: null },
      ],
      nics: [{ name: 'ib0', speedMbps: null, addresses: ['10.1.2.3/24', 'fe80::1/64'] }],
      primaryAddress: '10.1.2.3',
      infiniband: [
        {
          device: 'mlx5_0',
          port: 1,
          state: 'ACTIVE',
          rate: '400 Gb/sec (4X NDR)',
          guid: '0c42:a103:00aa:bbcc',
          pciAddress: '0000:18:00.0',
        },
      ],
      python: { path: '/usr/bin/python3', version: '3.6.8' },
      toolkits: { cuda: '11.0' },
      virtualization: null,
    })
    expect(accelerators).toEqual([
      expect.objectContaining({
        deviceType: 'huawei_npu',
        model: 'Ascend910B',
        numaNode: null,
        source: 'pci',
        healthReason: 'npu-smi is not installed',
      }),
    ])
    expect(warnings).toEqual(['1 huawei device on the PCI bus (0000:c1:00.0), but npu-smi is not installed'])
  })

  it.each([
    ['10de 0680', []],
    ['1ded 0604', []],
    ['1ded 0108', []],
    ['1ded 1200', ['thead_npu']],
    ['19e5 0300', []],
    ['8086 1200', []],
    ['1a03 0300', []],
    ['1da3 1200', ['other']],
    ['1d94 0b40', ['other']],
    ['1002 0380', ['amd_gpu']],
  ])('counts PCI %s as %j', (ids, types) => {
    const [vendor, classId] = ids.split(' ')
    const device = '/sys/bus/pci/devices/0000:21:00.0'
    const raw = probe(files(`${device}/vendor:0x${vendor}`, `${device}/device:0x1234`, `${device}/class:0x${classId}00`))
    expect(parseProbe(raw).accelerators.map((accelerator) => accelerator.deviceType)).toEqual(types)
  })
})
