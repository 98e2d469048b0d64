import fs from 'node:fs'
import path from 'node:path'
import { given } from '@muster/lab/given'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { playsOn } from '../../worker/src/testing/play.ts'
import { canInstall, changes, succeeded } from '../../worker/src/testing/template-world.ts'
import { compile, here } from '../packaging/compile.ts'
import { standInApi } from './stand-in-api.ts'
import { folder } from './tree.ts'

describe.runIf(canInstall && here)('deploy_muster_agent', () => {
  let lab: Awaited<ReturnType<typeof given.lab>>
  let ansible: ReturnType<typeof playsOn>
  let stand: Awaited<ReturnType<typeof standInApi>>
  const playbooks = folder()
  beforeAll(async () => {
    // The shipped playbooks, with the binary where an administrator without a network puts it.
    fs.cpSync(path.resolve(import.meta.dirname, '../../../playbooks'), playbooks, { recursive: true })
    fs.mkdirSync(path.join(playbooks, 'files/agent'), { recursive: true })
    compile(here!, path.join(playbooks, `files/agent/muster-agent-${here}`))
    lab = await given.lab({ nodes: [{ name: 'node-a', profile: 'cpu' }], mode: 'namespaces' })
    stand = await standInApi(undefined, lab.hostAddress)
    ansible = playsOn(lab, playbooks)
  })
  afterAll(async () => {
    await ansible?.remove()
    await stand?.down()
  })

  test('a check changes nothing; then the agent is enrolled and beats, and a second run changes nothing', {
    timeout: 300_000,
  }, async () => {
    const vars = {
      muster_agent_api_url: stand.url,
      muster_agent_cluster_id: 'lab',
      muster_agent_offline_dir: 'agent',
      muster_agent_token: 'mst-one-time-token',
    }
    const node = lab.node('node-a')
    const on = async (...argv: string[]) => (await node.exec(argv)).stdout.trim()
    const checked = await ansible.play('deploy_muster_agent', ['node-a'], vars, ['--check', '--diff'])
    expect(succeeded(checked)['node-a']).toBeGreaterThan(0)
    expect(await on('sh', '-c', 'ls /usr/bin/muster-agent /etc/muster 2>/dev/null')).toBe('')

    const first = await ansible.play('deploy_muster_agent', ['node-a'], vars, ['-vvv'])
    expect(succeeded(first)['node-a']).toBeGreaterThan(4)
    expect(first.output).not.toContain('mst-one-time-token')
    expect(stand.registrations[0]).toMatchObject({ node_id: 'node-a', cluster_id: 'lab', enrolment_token: 'mst-one-time-token' })
    expect(stand.accepted[0]).toMatchObject({
      node_id: 'node-a',
      health: { status: expect.any(String) },
      services: { munge_running: null },
    })
    expect(stand.wrong).toEqual([])
    expect(await on('stat', '-c', '%a %U', '/etc/muster/agent.key')).toBe('600 root')
    expect(await on('sh', '-c', 'grep -rl mst-one-time-token /etc /var/lib /var/log /run 2>/dev/null')).toBe('')
    expect(JSON.parse(await on('muster-agent', 'status', '--json'))).toMatchObject({ registered: true, last_error: null })
    expect(changes(await ansible.play('deploy_muster_agent', ['node-a'], vars))).toEqual({ 'node-a': 0 })
  })

  test('without where to send to it refuses at once', async () => {
    const refused = await ansible.play('deploy_muster_agent', ['node-a'], { muster_agent_offline_dir: 'agent' })
    expect(refused.code).not.toBe(0)
    expect(refused.output).toContain('muster_agent_api_url and muster_agent_cluster_id have to be set')
  })
})
