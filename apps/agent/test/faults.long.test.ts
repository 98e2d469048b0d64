import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEnrollmentToken, updateAgentSettings } from '@muster/core/agents'
import { FAULT_TIMEOUT, scaleIterations, type TenantFixture } from '@muster/core/testing'
import { type LabNode, serveFolder } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HttpServer, serveHttp } from '../../api/src/http/server.ts'
import { testApi } from '../../api/src/testing/api.ts'
import { compile, hostTarget } from '../packaging/compile.ts'
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.ts'
import { createTempDir } from './temp-files.ts'

const NODES = 8
/** Number of times that each agent is killed. */
const KILLS = scaleIterations(20)
/** Durations of network outages in seconds, 1 to 120, spread over the nodes. */
const OUTAGES_SECONDS = Array.from({ length: scaleIterations(120) }, (_, i, all = scaleIterations(120)) =>
  Math.ceil(((i + 1) * 120) / all),
)
const POLL = { timeout: 600_000, interval: 250 }
const UNIT = path.join(import.meta.dirname, '../../../playbooks/roles/muster_agent/files/muster-agent.service')
const FETCH = 'import os, sys, urllib.request\nurllib.request.urlretrieve(sys.argv[1], sys.argv[2])\nos.chmod(sys.argv[2], 0o755)'

describe.runIf(process.getuid?.() === 0 && hostTarget)('real agents on real nodes', { timeout: FAULT_TIMEOUT }, () => {
  let t: Awaited<ReturnType<typeof testApi>>
  let server: HttpServer
  let fixture: TenantFixture
  let lab: Awaited<ReturnType<typeof createLab>>
  let proxy: RecordingProxy
  let files: Awaited<ReturnType<typeof serveFolder>>
  beforeAll(async () => {
    t = await testApi()
    fixture = await t.given.tenant()
    server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
    await updateAgentSettings(fixture.admin, { heartbeatIntervalSeconds: 2 })
    const names = Array.from({ length: NODES }, (_, i) => `node-${i}`)
    lab = await createLab({ nodes: names.map((name) => ({ name, profile: 'cpu' })), mode: 'namespaces' })
    proxy = await startRecordingProxy(lab.hostAddress, server.port)
    const binaryDir = createTempDir()
    compile(hostTarget!, path.join(binaryDir, 'muster-agent'))
    files = await serveFolder(binaryDir, lab.hostAddress)
    await Promise.all(lab.nodes.map(install))
  }, 300_000)
  afterAll(async () => {
    await files?.close()
    proxy?.close()
    await server?.stop()
    await t?.close()
  })

  const on = async (node: LabNode, argv: string[], input?: string) => {
    const { code, stdout, stderr } = await node.exec(argv, { input })
    if (code !== 0) throw new Error(`${node.name}: ${argv.join(' ')}: ${stderr}`)
    return stdout
  }
  const write = (node: LabNode, file: string, content: string) =>
    on(node, ['sh', '-c', 'mkdir -p "$(dirname "$1")" && umask 077 && cat > "$1"', 'sh', file], content)
  const service = (node: LabNode, verb: string) => on(node, ['systemctl', verb, 'muster-agent'])

  async function install(node: LabNode): Promise<void> {
    await on(node, ['python3', '-c', FETCH, `${files.url}/muster-agent`, '/usr/bin/muster-agent'])
    const settings = { 'node-id': node.name, 'cluster-id': 'lab', 'api-url': proxy.url }
    await write(node, '/etc/muster/agent.yaml', JSON.stringify(settings))
    await write(node, '/etc/systemd/system/muster-agent.service', fs.readFileSync(UNIT, 'utf8'))
    await on(node, ['muster-agent', 'init'])
    const { token } = await createEnrollmentToken(fixture.operator, {})
    await on(node, ['muster-agent', 'register', '--token-file', '-'], token)
    await service(node, 'enable')
    await service(node, 'start')
  }

  /** Waits for two accepted heartbeats of the current start, which follow all earlier ones. */
  const waitForNewEpoch = (node: LabNode, after: number) =>
    expect
      .poll(() => {
        const last = proxy.accepted(node.name).at(-1)
        return Number(last?.boot_epoch) > after && Number(last?.sequence_number) > 1
      }, POLL)
      .toBe(true)
  /** Waits until the backlog is delivered and heartbeats arrive on time again. */
  const waitForDelivery = (node: LabNode, since = Date.now()) =>
    expect
      .poll(() => {
        const last = proxy.accepted(node.name).at(-1)!
        return Date.parse(last.timestamp) > since && last.measured_at === undefined
      }, POLL)
      .toBe(true)
  const position = async (node: LabNode) => JSON.parse(await on(node, ['cat', '/var/lib/muster-agent/sequence.json']))
  const kinds = async () => {
    const rows = await t.runtime.db.query.alerts.findMany({ where: { tenantId: fixture.tenant.id }, with: { node: true } })
    return rows.map(({ kind, node }) => `${node?.name} ${kind}`)
  }

  test(`${NODES} agents that are killed or rebooted ${KILLS} times each resume and deliver all measured heartbeats`, async () => {
    await Promise.all(
      lab.nodes.map(async (node) => {
        let epoch = 0
        for (let i = 0; i < KILLS; i++) {
          await waitForNewEpoch(node, epoch)
          const pid = (await on(node, ['cat', '/run/systemd/lab-services/muster-agent.service'])).trim()
          let lastPosition = await position(node)
          if (i % 4 === 3) {
            // The service starts at boot.
            await lab.fault(node.name, 'reboot')
            await lab.ready(node.name)
          } else {
            await on(node, ['kill', '-KILL', pid])
            lastPosition = await position(node)
            // Replaces Restart=always of systemd.
            await service(node, 'start')
          }
          epoch = Math.max(lastPosition.boot_epoch, epoch)
          await waitForNewEpoch(node, epoch)
          // All but the heartbeats in flight or being measured.
          const { length } = proxy.accepted(node.name).filter(({ boot_epoch }) => boot_epoch === lastPosition.boot_epoch)
          if (i % 4 !== 3) expect(length).toBeGreaterThanOrEqual(lastPosition.sequence_number - 2)
        }
        proxy.expectComplete(node.name)
      }),
    )
    expect((await kinds()).filter((kind) => !kind.endsWith('anomaly'))).toEqual([])
  })

  test(`after ${OUTAGES_SECONDS.length} network outages of 1 to 120 s, all heartbeats arrive in order`, async () => {
    await Promise.all(
      lab.nodes.map(async (node, at) => {
        for (const seconds of OUTAGES_SECONDS.filter((_, i) => i % NODES === at)) {
          await lab.fault(node.name, 'link-down')
          await sleep(seconds * 1000)
          await lab.heal(node.name)
          await waitForDelivery(node)
        }
        proxy.expectComplete(node.name)
        expect(JSON.parse(await on(node, ['muster-agent', 'status', '--json']))).toMatchObject({ dropped_heartbeats: 0 })
      }),
    )
    expect((await kinds()).filter((kind) => !kind.endsWith('anomaly'))).toEqual([])
  })

  test('on a full disk an agent continues, reports the problem, delivers from memory, and recovers', async () => {
    const node = lab.nodes[0]!
    const reasons = () => String(proxy.accepted(node.name).at(-1)?.health.reasons ?? '')
    await lab.fault(node.name, 'full-disk')
    await expect.poll(reasons, POLL).toMatch(/the sequence cannot be saved: ENOSPC/)
    await lab.fault(node.name, 'link-down')
    await sleep(10_000)
    await lab.heal(node.name)
    await waitForDelivery(node)
    await expect.poll(reasons, POLL).not.toMatch(/cannot be saved/)
    proxy.expectComplete(node.name)
  })

  test('detects a shared key by fingerprint, and without a fingerprint by concurrent heartbeats', async () => {
    const [one, other] = lab.nodes as [LabNode, LabNode]
    const settings = JSON.parse(await on(one, ['cat', '/etc/muster/agent.yaml']))
    await service(other, 'stop')
    await write(other, '/etc/muster/agent.key', await on(one, ['cat', '/etc/muster/agent.key']))
    for (const [kind, more] of Object.entries({ fingerprint_changed: {}, key_shared: { 'host-root': '/srv' } })) {
      expect(await kinds()).not.toContain(`${one.name} ${kind}`)
      await on(other, ['rm', '-rf', '/var/lib/muster-agent'])
      await write(other, '/etc/muster/agent.yaml', JSON.stringify({ ...settings, ...more }))
      await service(other, 'start')
      await expect.poll(kinds, POLL).toContain(`${one.name} ${kind}`)
      await service(other, 'stop')
    }
    expect((await kinds()).filter((kind) => /fingerprint|key/.test(kind))).toHaveLength(2)
  })
})
