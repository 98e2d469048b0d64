import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEnrolmentToken, updateAgentSettings } from '@muster/core/agents'
import { type Cast, FAULT_TIMEOUT, often } from '@muster/core/testing'
import { type LabNode, serveFolder } from '@muster/lab'
import { given } from '@muster/lab/given'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type HttpServer, serveHttp } from '../../api/src/http.ts'
import { testApi } from '../../api/src/testing/api.ts'
import { compile, here } from '../packaging/compile.ts'
import { type Door, openDoor } from './door.ts'
import { folder } from './tree.ts'

const NODES = 8
/** How often each agent ends without warning. */
const ENDS = often(20)
/** How long nodes are cut off, in seconds: from 1 to 120, spread over the nodes. */
const CUTS = Array.from({ length: often(120) }, (_, i, all = often(120)) => Math.ceil(((i + 1) * 120) / all))
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 600_000, interval: 250 })
const UNIT = path.join(import.meta.dirname, '../../../playbooks/roles/muster_agent/files/muster-agent.service')
const FETCH = 'import os, sys, urllib.request\nurllib.request.urlretrieve(sys.argv[1], sys.argv[2])\nos.chmod(sys.argv[2], 0o755)'

describe.runIf(process.getuid?.() === 0 && here)('real agents on real nodes', { timeout: FAULT_TIMEOUT }, () => {
  let t: Awaited<ReturnType<typeof testApi>>
  let server: HttpServer
  let cast: Cast
  let lab: Awaited<ReturnType<typeof given.lab>>
  let door: Door
  let files: Awaited<ReturnType<typeof serveFolder>>
  beforeAll(async () => {
    t = await testApi()
    cast = await t.given.tenant()
    server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
    await updateAgentSettings(cast.admin, { heartbeatS: 2 })
    const names = Array.from({ length: NODES }, (_, i) => `node-${i}`)
    lab = await given.lab({ nodes: names.map((name) => ({ name, profile: 'cpu' })), mode: 'namespaces' })
    door = await openDoor(lab.hostAddress, server.port)
    const place = folder()
    compile(here!, path.join(place, 'muster-agent'))
    files = await serveFolder(place, lab.hostAddress)
    await Promise.all(lab.nodes.map(install))
  }, 300_000)
  afterAll(async () => {
    await files?.close()
    door?.close()
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
    const settings = { 'node-id': node.name, 'cluster-id': 'lab', 'api-url': door.url }
    await write(node, '/etc/muster/agent.yaml', JSON.stringify(settings))
    await write(node, '/etc/systemd/system/muster-agent.service', fs.readFileSync(UNIT, 'utf8'))
    await on(node, ['muster-agent', 'init'])
    const { token } = await createEnrolmentToken(cast.operator, {})
    await on(node, ['muster-agent', 'register', '--token-file', '-'], token)
    await service(node, 'enable')
    await service(node, 'start')
  }

  /** Two beats of the present start were accepted, so all that it was left by those before was delivered. */
  const beatsAgain = (node: LabNode, after: number) =>
    until(() => {
      const last = door.accepted(node.name).at(-1)
      expect(last?.boot_epoch).toBeGreaterThan(after)
      expect(last?.sequence_number).toBeGreaterThan(1)
    })
  /** What waited was delivered: beats arrive again when they are measured. */
  const hasDelivered = (node: LabNode, since = Date.now()) =>
    until(() => {
      const last = door.accepted(node.name).at(-1)!
      expect(Date.parse(last.timestamp)).toBeGreaterThan(since)
      expect(last.measured_at).toBeUndefined()
    })
  const position = async (node: LabNode) => JSON.parse(await on(node, ['cat', '/var/lib/muster-agent/sequence.json']))
  const kinds = async () => {
    const rows = await t.runtime.db.query.alerts.findMany({ where: { tenantId: cast.tenant.id }, with: { node: true } })
    return rows.map(({ kind, node }) => `${node?.name} ${kind}`)
  }

  test(`${NODES} agents that are killed, or their nodes rebooted, ${ENDS} times each go on by themselves; what they had measured arrives`, async () => {
    await Promise.all(
      lab.nodes.map(async (node) => {
        let epoch = 0
        for (let i = 0; i < ENDS; i++) {
          await beatsAgain(node, epoch)
          const pid = (await on(node, ['cat', '/run/systemd/stand-in/muster-agent.service'])).trim()
          let left = await position(node)
          if (i % 4 === 3) {
            // It comes by itself when the node does.
            await lab.fault(node.name, 'reboot')
            await lab.ready(node.name)
          } else {
            await on(node, ['kill', '-KILL', pid])
            left = await position(node)
            // In the place of systemd's Restart=always.
            await service(node, 'start')
          }
          epoch = Math.max(left.boot_epoch, epoch)
          await beatsAgain(node, epoch)
          // All but what was on its way, or just being measured.
          const { length } = door.accepted(node.name).filter(({ boot_epoch }) => boot_epoch === left.boot_epoch)
          if (i % 4 !== 3) expect(length).toBeGreaterThanOrEqual(left.sequence_number - 2)
        }
        door.expectWhole(node.name)
      }),
    )
    expect((await kinds()).filter((kind) => !kind.endsWith('anomaly'))).toEqual([])
  })

  test(`cut off ${CUTS.length} times for 1 to 120 s, what was measured meanwhile arrives in order, and all of it`, async () => {
    await Promise.all(
      lab.nodes.map(async (node, at) => {
        for (const seconds of CUTS.filter((_, i) => i % NODES === at)) {
          await lab.fault(node.name, 'link-down')
          await sleep(seconds * 1000)
          await lab.heal(node.name)
          await hasDelivered(node)
        }
        door.expectWhole(node.name)
        expect(JSON.parse(await on(node, ['muster-agent', 'status', '--json']))).toMatchObject({ dropped_heartbeats: 0 })
      }),
    )
    expect((await kinds()).filter((kind) => !kind.endsWith('anomaly'))).toEqual([])
  })

  test('on a full disk an agent beats on, says so, delivers what it could not keep, and recovers', async () => {
    const node = lab.nodes[0]!
    const says = () => String(door.accepted(node.name).at(-1)?.health.reasons ?? '')
    await lab.fault(node.name, 'full-disk')
    await until(() => expect(says()).toMatch(/the sequence cannot be kept: ENOSPC/))
    await lab.fault(node.name, 'link-down')
    await sleep(10_000)
    await lab.heal(node.name)
    await hasDelivered(node)
    await until(() => expect(says()).not.toMatch(/cannot be kept/))
    door.expectWhole(node.name)
  })

  test('a machine with the key of another is noticed, by its hardware, and where it tells none by both going on', async () => {
    const [one, other] = lab.nodes as [LabNode, LabNode]
    const settings = JSON.parse(await on(one, ['cat', '/etc/muster/agent.yaml']))
    await service(other, 'stop')
    await write(other, '/etc/muster/agent.key', await on(one, ['cat', '/etc/muster/agent.key']))
    for (const [kind, more] of Object.entries({ fingerprint_changed: {}, key_shared: { 'host-root': '/srv' } })) {
      expect(await kinds()).not.toContain(`${one.name} ${kind}`)
      await on(other, ['rm', '-rf', '/var/lib/muster-agent'])
      await write(other, '/etc/muster/agent.yaml', JSON.stringify({ ...settings, ...more }))
      await service(other, 'start')
      await until(async () => expect(await kinds()).toContain(`${one.name} ${kind}`))
      await service(other, 'stop')
    }
    expect((await kinds()).filter((kind) => /fingerprint|key/.test(kind))).toHaveLength(2)
  })
})
