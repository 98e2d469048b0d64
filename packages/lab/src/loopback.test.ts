import { beforeAll, describe, expect, it } from 'vitest'
import { connectTo } from './test-ssh.ts'
import { createLab } from './testing.ts'
import type { FaultName, Lab } from './types.ts'

const POLL = { timeout: 15_000 }

describe('a lab of sshd processes', () => {
  let lab: Lab
  beforeAll(async () => {
    lab = await createLab({ mode: 'loopback', nodes: 5 })
  })
  const name = 'gpu-h100-01'
  const byKey = () => connectTo(lab.node(name), lab.credentials.sshKey)

  it('has distinct addresses, its own tools, and a bastion', async () => {
    expect(new Set(lab.nodes.map(({ host, port }) => `${host}:${port}`)).size).toBe(5)
    using session = await byKey()
    expect((await session.run('nvidia-smi -L; echo "$HOME"')).stdout).toMatch(
      new RegExp(`GPU 7.*\n${lab.dir}/nodes/${name}/home\n$`),
    )
    using bastion = await connectTo(lab.bastion!, lab.credentials.bastionKey!)
    const inRack = lab.node('npu-910b-01')
    using rackSession = await connectTo(inRack, { ...lab.credentials.sshKey, sock: await bastion.forward(inRack) })
    expect((await rackSession.run('npu-smi info')).stdout).toContain('910B3')
  })

  it('changes its host key and heals', async () => {
    const before = lab.node(name).hostKeyFingerprint
    await lab.fault(name, 'changed-host-key')
    await expect.poll(async () => (await byKey().catch(() => null))?.fingerprint, POLL).toBe(lab.node(name).hostKeyFingerprint)
    expect(lab.node(name).hostKeyFingerprint).not.toBe(before)
    await lab.heal(name)
    await expect.poll(async () => (await byKey().catch(() => null))?.fingerprint, POLL).toBe(before)
  })

  it('breaks tools and shells and heals', async () => {
    await lab.fault(name, 'flood-tool')
    await lab.fault(name, 'slow-shell', { seconds: 0.3 })
    const start = performance.now()
    using session = await byKey()
    expect((await session.run('nvidia-smi | wc -c')).stdout.trim()).toBe('10485760')
    expect(performance.now() - start).toBeGreaterThanOrEqual(300)
    await lab.heal(name)
    expect((await session.run('nvidia-smi -L')).stdout).toContain('GPU 7')
  })

  it('closes its port, stops answering, and recovers', async () => {
    using session = await byKey()
    await lab.fault(name, 'port-closed')
    await expect(byKey()).rejects.toThrow(/ECONNREFUSED/)
    expect((await session.run('echo connected')).stdout).toBe('connected\n')
    await lab.heal(name)
    await lab.fault(name, 'tarpit')
    await expect(connectTo(lab.node(name), { ...lab.credentials.sshKey, readyTimeout: 300 })).rejects.toThrow(/Timed out/)
    await lab.heal(name)
    await lab.fault(name, 'sshd-stop')
    await expect(byKey()).rejects.toThrow(/ECONNREFUSED/)
    await lab.heal(name)
    using again = await byKey()
    expect((await again.run('true')).code).toBe(0)
  })

  it.each<FaultName>(['link-down', 'latency', 'full-disk', 'reboot', 'power-off', 'no-python', 'sudo-denied'])(
    'reports why %s is unavailable',
    async (fault) => {
      await expect(lab.fault(name, fault)).rejects.toThrow(
        `Lab ${lab.id} does not support the fault "${fault}": nodes without root`,
      )
    },
  )
})
