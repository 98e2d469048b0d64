import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { relayToRack } from './relay-to-rack.ts'
import { serveFolder } from './serve-folder.ts'
import { connectTo, type Session, type Target } from './test-ssh.ts'
import { createLab } from './testing.ts'
import type { Lab, LabNode } from './types.ts'

// Generous, for busy machines.
const POLL = { timeout: 15_000 }

const root = process.getuid?.() === 0
let lab: Lab
beforeAll(async () => {
  if (root) lab = await createLab({ nodes: 8 })
})

const byKey = (name: string): Promise<Session> => connectTo(lab.node(name), lab.credentials.sshKey)

/** Returns `connected` with the banner, if one arrives in time, or the error's code. */
function probePort({ host, port }: Target, timeoutMs = 400): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    let connected = false
    const settle = (result: string) => {
      socket.destroy()
      resolve(result)
    }
    socket.once('connect', () => (connected = true))
    socket.once('data', (text) => settle(`connected ${text}`.trim()))
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? 'error'))
    setTimeout(() => settle(connected ? 'connected' : 'no answer'), timeoutMs)
  })
}

describe.runIf(root)('a lab of eight nodes', () => {
  it('has distinct machines with their own host names', async () => {
    expect(lab.nodes.map((node) => node.name)).toEqual([
      'gpu-h100-01',
      'gpu-h100-02',
      'gpu-mi300x-01',
      'gpu-max1550-01',
      'npu-910b-01',
      'ppu-zw810e-01',
      'cpu-01',
      'cpu-02',
    ])
    expect(lab.nodes.every((node) => /^10\.77\.\d+\.\d+$/.test(node.host))).toBe(true)
    for (const distinct of [(node: LabNode) => node.host, (node: LabNode) => node.hostKeyFingerprint]) {
      expect(new Set(lab.nodes.map(distinct)).size).toBe(8)
    }
    expect(new Set(await Promise.all(lab.nodes.map((node) => node.bootId()))).size).toBe(8)
    using session = await byKey('cpu-01')
    expect(session.fingerprint).toBe(lab.node('cpu-01').hostKeyFingerprint)
    const { stdout } = await session.run('hostname; cat /proc/sys/kernel/random/boot_id; cut -d. -f1 /proc/uptime')
    const [name, bootId, uptime] = stdout.trim().split('\n')
    expect([name, bootId]).toEqual(['cpu-01', await lab.node('cpu-01').bootId()])
    const hostUptime = Number((await readFile('/proc/uptime', 'utf8')).split('.')[0])
    expect(Number(uptime)).toBeLessThanOrEqual(hostUptime)
  })

  it('shows simulated hardware and hides the host', async () => {
    using session = await byKey('gpu-h100-01')
    const gpus = await session.run('nvidia-smi -L')
    expect(gpus.stdout.trim().split('\n')).toHaveLength(8)
    expect(gpus.stdout).toContain('H100')
    const other = await lab.node('gpu-h100-02').exec(['nvidia-smi', '-L'])
    expect(other.stdout).toContain('MIG')
    expect(other.stdout).not.toContain(/UUID: (GPU-[^)]*)/.exec(gpus.stdout)?.[1])
    expect((await session.run('nvidia-smi --no-such-option')).code).not.toBe(0)
    const pci = await session.run(
      'cat /sys/bus/pci/devices/*/vendor | sort | uniq -c; grep -c ^processor /proc/cpuinfo; head -1 /proc/meminfo',
    )
    expect(pci.stdout).toMatch(/0x10de[\s\S]*\n224\nMemTotal: +21\d{8} kB/)
    expect((await lab.node('cpu-02').exec(['sh', '-c', 'command -v nvidia-smi amd-smi xpu-smi npu-smi ppu-smi'])).stdout).toBe('')
    const seen = await session.run(`sudo ls ${import.meta.dirname} /root /home`)
    expect(seen.stdout).not.toMatch(/lab\.test\.ts|package\.json/)
    expect(seen.stdout).toContain('ops')
  })

  it('accepts logins by key and by password', async () => {
    const node = lab.node('cpu-01')
    const { sshKey, sshPassword, rootKey, rootPassword, plainPassword } = lab.credentials
    for (const login of [sshKey, { ...sshKey, privateKey: sshKey.encryptedPrivateKey }, sshPassword!, rootKey!, plainPassword!]) {
      using session = await connectTo(node, login)
      expect((await session.run('id -un')).stdout.trim()).toBe(login.username)
    }
    const wrong = { ...sshPassword!, password: 'not-this' }
    for (const login of [wrong, rootPassword!])
      await expect(connectTo(node, login)).rejects.toThrow(/authentication methods failed/)
  })

  it('grants root per user: with sudo, sudo and password, su, or never', async () => {
    const node = lab.node('cpu-01')
    const { sshPassword, rootPassword, plainPassword, sudoPassword } = lab.credentials
    using ops = await connectTo(node, sshPassword!)
    expect((await ops.run('sudo -n id -un')).stdout.trim()).toBe('root')
    expect((await ops.run('su - -c "id -un"', `${rootPassword!.password}\n`)).stdout).toContain('root')
    using admin = await connectTo(node, sudoPassword!)
    expect((await admin.run('sudo -n id -un')).code).not.toBe(0)
    expect((await admin.run('sudo -S -p "" id -un', `${sudoPassword!.password}\n`)).stdout.trim()).toBe('root')
    expect((await admin.run('sudo -S -p "" id -un', 'wrong\n')).code).not.toBe(0)
    using plain = await connectTo(node, plainPassword!)
    expect((await plain.run('sudo -S -p "" id -un', `${plainPassword!.password}\n`)).code).not.toBe(0)
  })

  it('makes two nodes reachable only through the bastion', async () => {
    const hidden = lab.nodes.filter((node) => node.behindBastion)
    expect(hidden.map((node) => node.profile)).toEqual(['ascend910b3x8', 'ppuzw810ex16'])
    for (const answer of await Promise.all(hidden.map((node) => probePort(node)))) expect(answer).not.toMatch(/^connected/)
    for (const login of [lab.credentials.bastionKey!, lab.credentials.bastionPassword!]) {
      using bastion = await connectTo(lab.bastion!, login)
      for (const node of hidden) {
        using session = await connectTo(node, { ...lab.credentials.sshPassword!, sock: await bastion.forward(node) })
        expect((await session.run('hostname')).stdout.trim()).toBe(node.name)
      }
    }
  })

  it('relays connections from behind the bastion to a server on this machine', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'lab-relay-'))
    await writeFile(path.join(dir, 'greeting'), 'hello from the host\n')
    const server = await serveFolder(dir, lab.hostAddress)
    try {
      const hidden = lab.nodes.find((node) => node.behindBastion)!
      const script = 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())'
      const url = `${await relayToRack(lab, server.url)}/greeting`
      const fetched = () => hidden.exec(['python3', '-c', script, url])
      for (const answer of await Promise.all([fetched(), fetched()]))
        expect(answer).toMatchObject({ code: 0, stdout: 'hello from the host\n\n' })
    } finally {
      await server.close()
      await rm(dir, { recursive: true })
    }
  })

  it('supports OpenSSH clients: pinned key, terminal, scp', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'lab-openssh-'))
    const node = lab.node('cpu-02')
    await writeFile(path.join(dir, 'key'), lab.credentials.sshKey.privateKey, { mode: 0o600 })
    await writeFile(path.join(dir, 'known'), `${node.host} ${node.hostPublicKey}\n`)
    const options = [
      '-F',
      'none',
      '-i',
      `${dir}/key`,
      '-o',
      'IdentitiesOnly=yes',
      '-o',
      'StrictHostKeyChecking=yes',
      '-o',
      `UserKnownHostsFile=${dir}/known`,
    ]
    const run = promisify(execFile)
    expect((await run('ssh', [...options, '-tt', `ops@${node.host}`, 'tty'])).stdout).toMatch(/^\/dev\/pts\/\d+/)
    await run('scp', [...options, `${dir}/known`, `ops@${node.host}:copied`])
    await run('scp', [...options, `ops@${node.host}:copied`, `${dir}/back`])
    expect(await readFile(`${dir}/back`, 'utf8')).toContain(node.hostPublicKey)
    await rm(dir, { recursive: true })
  })
})

describe.runIf(root)('faults', () => {
  const name = 'gpu-h100-01'
  const answers = async () => expect(await probePort(lab.node(name), 5000)).toMatch(/^connected SSH-2\.0/)

  it('link-down: the node does not answer', async () => {
    await lab.fault(name, 'link-down')
    expect(await probePort(lab.node(name))).not.toMatch(/^connected/)
    await lab.heal(name)
    await answers()
  })

  it.each([name, 'npu-910b-01'])('latency: every packet of %s is delayed', async (node) => {
    const ping = ['/bin/sh', '-c', `exec 3<>/dev/tcp/${node === name ? lab.bastion!.host : lab.node('ppu-zw810e-01').host}/22`]
    ping[0] = '/bin/bash'
    const time = async () => {
      const start = performance.now()
      expect((await lab.node(node).exec(ping)).code).toBe(0)
      return performance.now() - start
    }
    await lab.fault(node, 'latency', { ms: 150 })
    expect(await time()).toBeGreaterThanOrEqual(300)
    await lab.heal(node)
    expect((await lab.node(node).exec(ping)).code).toBe(0)
    await lab.fault(node, 'latency', { ms: 0, lossPercent: 100 })
    expect((await lab.node(node).exec(['timeout', '0.4', ...ping])).code).not.toBe(0)
    await lab.heal(node)
    expect((await lab.node(node).exec(ping)).code).toBe(0)
  })

  it('changed-host-key: uses another key until it is healed', async () => {
    const before = lab.node(name).hostKeyFingerprint
    await lab.fault(name, 'changed-host-key')
    expect(lab.node(name).hostKeyFingerprint).not.toBe(before)
    await lab.ready(name)
    await expect.poll(async () => (await byKey(name)).fingerprint, POLL).toBe(lab.node(name).hostKeyFingerprint)
    await lab.heal(name)
    expect(lab.node(name).hostKeyFingerprint).toBe(before)
    await expect.poll(async () => (await byKey(name)).fingerprint, POLL).toBe(before)
  })

  it('full-disk: writes fail', async () => {
    using session = await byKey(name)
    await lab.fault(name, 'full-disk')
    const full = await session.run('head -c 100000 /dev/zero > ~/file')
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('No space left')])
    await lab.heal(name)
    expect((await session.run('head -c 100000 /dev/zero > ~/file')).code).toBe(0)
  })

  it('endless-output, hung-tool, flood-tool: replaces the vendor tool, then restores it', async () => {
    using session = await byKey(name)
    await lab.fault(name, 'endless-output')
    expect((await session.run('nvidia-smi | head -c 30000000 | wc -c')).stdout.trim()).toBe('30000000')
    await lab.fault(name, 'flood-tool')
    expect((await session.run('nvidia-smi | wc -c')).stdout.trim()).toBe('10485760')
    await lab.fault(name, 'hung-tool')
    expect((await session.run('timeout -k 0.2 0.2 nvidia-smi; echo $?')).stdout).toBe('137\n')
    await lab.fault('cpu-01', 'flood-tool', { tool: 'amd-smi' })
    expect((await lab.node('cpu-01').exec(['sh', '-c', 'amd-smi | wc -c'])).stdout.trim()).toBe('10485760')
    await lab.heal()
    expect((await session.run('nvidia-smi -L')).stdout).toContain('GPU 7')
    expect((await lab.node('cpu-01').exec(['sh', '-c', 'command -v amd-smi'])).code).not.toBe(0)
  })

  it('slow-shell: delays commands', async () => {
    using session = await byKey(name)
    await lab.fault(name, 'slow-shell', { seconds: 0.4 })
    const start = performance.now()
    expect((await session.run('echo late')).stdout).toBe('late\n')
    expect(performance.now() - start).toBeGreaterThanOrEqual(400)
    await lab.heal(name)
  })

  it('tarpit: accepts connections and sends nothing', async () => {
    await lab.fault(name, 'tarpit')
    expect(await probePort(lab.node(name))).toBe('connected')
    await lab.heal(name)
    await answers()
  })

  it('port-closed refuses connections and leaves sessions; sshd-stop ends sessions too', async () => {
    using session = await byKey(name)
    await lab.fault(name, 'port-closed')
    expect(await probePort(lab.node(name))).toBe('ECONNREFUSED')
    expect((await session.run('echo connected')).stdout).toBe('connected\n')
    await lab.heal(name)
    await answers()
    await lab.fault(name, 'sshd-stop')
    expect(await probePort(lab.node(name))).toBe('ECONNREFUSED')
    await session.closed
    await lab.heal(name)
    await answers()
  })

  it('reboot: changes the boot id and retains the disk, for every way to reboot', async () => {
    const node = lab.node(name)
    const first = await node.bootId()
    await node.exec(['sh', '-c', 'echo disk > /home/ops/file; echo memory > /run/file'])
    await lab.fault(name, 'reboot')
    const second = await lab.ready(name)
    expect(second).not.toBe(first)
    using session = await byKey(name)
    expect((await session.run('cat file /run/file')).stdout).toBe('disk\n')
    expect((await connectTo(node, lab.credentials.plainPassword!).then((plain) => plain.run('reboot'))).code).not.toBe(0)
    // With a terminal, which sends SIGHUP to its processes when it closes.
    expect((await session.run('sudo shutdown -r now', '', true)).code).toBe(0)
    await session.closed
    await expect.poll(() => lab.ready(name), POLL).not.toBe(second)
    const third = await node.bootId()
    // reboot(2), which a package's own reboot program would call.
    await node.exec(['python3', '-c', 'import ctypes; ctypes.CDLL(None).reboot(0x1234567)'])
    await expect.poll(() => lab.ready(name), POLL).not.toBe(third)
    await lab.heal(name)
  })

  it('power-off: is down until it is healed', async () => {
    await lab.fault(name, 'power-off')
    expect(await probePort(lab.node(name))).not.toMatch(/^connected/)
    await expect(lab.node(name).exec(['true'])).rejects.toThrow(`Lab node ${name} is not running.`)
    await lab.heal(name)
    await answers()
  })

  it('no-python and sudo-denied: hide Python and reject sudo', async () => {
    using session = await byKey(name)
    const python = 'command -v python3'
    expect((await session.run(python)).code).toBe(0)
    await lab.fault(name, 'no-python')
    expect((await session.run(python)).stdout).toBe('')
    await lab.fault(name, 'sudo-denied')
    expect((await session.run('sudo -n true')).code).not.toBe(0)
    await lab.heal(name)
    expect((await session.run('python3 -c "print(6 * 7)"; sudo -n id -un')).stdout).toBe('42\nroot\n')
  })

  it('reports unknown nodes and faults', async () => {
    await expect(lab.fault('nobody', 'tarpit')).rejects.toThrow(/no node "nobody"\. Nodes: gpu-h100-01/)
    await expect(lab.fault(name, 'earthquake' as never)).rejects.toThrow(/Unknown fault "earthquake"\. Faults: link-down/)
  })
})

describe('a lab with an identity file', () => {
  it.each(root ? (['namespaces', 'loopback'] as const) : (['loopback'] as const))(
    'has the same addresses, host keys, logins and machine IDs again (%s)',
    async (mode) => {
      const identityFile = path.join(mkdtempSync(path.join(tmpdir(), 'muster-lab-')), 'identity.json')
      const start = async () => {
        const lab = await createLab({ mode, nodes: [{ name: 'again' }], bastion: false, identityFile })
        const { host, port, hostKeyFingerprint } = lab.node('again')
        using session = await connectTo(lab.node('again'), lab.credentials.sshKey)
        const { stdout: machineId } = await session.run('cat /etc/machine-id')
        await lab.down()
        return { host, port, hostKeyFingerprint, machineId, credentials: lab.credentials }
      }
      const first = await start()
      expect(statSync(identityFile).mode & 0o777).toBe(0o600)
      expect(await start()).toEqual(first)
      rmSync(path.dirname(identityFile), { recursive: true })
    },
  )
})

describe.runIf(root)('parallel labs', () => {
  it('have separate networks and the requested nodes', async () => {
    const others = await Promise.all([
      createLab({ nodes: [{ name: 'bare', python: false }] }),
      createLab({
        nodes: [
          { name: 'hung', profile: 'hung-tool' },
          { name: 'mismatch', profile: 'nvidia-mismatch' },
        ],
      }),
    ])
    const networks = [lab, ...others].map(({ nodes }) => nodes[0]!.host.split('.', 3).join('.'))
    expect(new Set(networks).size).toBe(3)
    using bare = await connectTo(others[0].node('bare'), others[0].credentials.sshKey)
    expect((await bare.run('command -v python python3 python3.9 python3.11 python3.12 python3.13')).stdout).toBe('')
    expect((await others[1].node('hung').exec(['sh', '-c', 'timeout -k 0.1 0.1 nvidia-smi; echo $?'])).stdout).toBe('137\n')
    expect((await others[1].node('mismatch').exec(['nvidia-smi'])).stdout).toContain('mismatch')
    await expect(connectTo(others[0].node('bare'), lab.credentials.sshPassword!)).rejects.toThrow(/authentication/)
    await others[0].down()
    await others[0].down()
    expect(await probePort(lab.node('cpu-02'))).toMatch(/^connected SSH/)
  })
})
