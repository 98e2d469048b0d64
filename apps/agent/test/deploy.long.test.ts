import fs from 'node:fs'
import path from 'node:path'
import { createLab } from '@muster/lab/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPlaybookRunner } from '../../worker/src/testing/playbook-runner.ts'
import { canInstall, changes, succeeded } from '../../worker/src/testing/template-fixture.ts'
import { compile, hostTarget } from '../packaging/compile.ts'
import { startFakeApi } from './fake-api.ts'
import { createTempDir } from './temp-files.ts'

describe.runIf(canInstall && hostTarget)('deploy_muster_agent', () => {
  let lab: Awaited<ReturnType<typeof createLab>>
  let ansible: ReturnType<typeof createPlaybookRunner>
  let fakeApi: Awaited<ReturnType<typeof startFakeApi>>
  const playbooks = createTempDir()
  beforeAll(async () => {
    // The shipped playbooks with the binary in the offline folder.
    fs.cpSync(path.resolve(import.meta.dirname, '../../../playbooks'), playbooks, { recursive: true })
    fs.mkdirSync(path.join(playbooks, 'files/agent'), { recursive: true })
    compile(hostTarget!, path.join(playbooks, `files/agent/muster-agent-${hostTarget}`))
    lab = await createLab({ nodes: [{ name: 'node-a', profile: 'cpu' }], mode: 'namespaces' })
    fakeApi = await startFakeApi(undefined, lab.hostAddress)
    ansible = createPlaybookRunner(lab, playbooks)
  })
  afterAll(async () => {
    await ansible?.remove()
    await fakeApi?.stop()
  })

  test('check mode changes nothing, the first run enrolls the agent, the second run changes nothing', {
    timeout: 300_000,
  }, async () => {
    const vars = {
      muster_agent_api_url: fakeApi.url,
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
    expect(fakeApi.registrations[0]).toMatchObject({
      node_id: 'node-a',
      cluster_id: 'lab',
      enrollment_token: 'mst-one-time-token',
    })
    expect(fakeApi.accepted[0]).toMatchObject({
      node_id: 'node-a',
      health: { status: expect.any(String) },
      services: { munge_running: null },
    })
    expect(fakeApi.violations).toEqual([])
    expect(await on('stat', '-c', '%a %U', '/etc/muster/agent.key')).toBe('600 root')
    expect(await on('sh', '-c', 'grep -rl mst-one-time-token /etc /var/lib /var/log /run 2>/dev/null')).toBe('')
    expect(JSON.parse(await on('muster-agent', 'status', '--json'))).toMatchObject({ registered: true, last_error: null })
    expect(changes(await ansible.play('deploy_muster_agent', ['node-a'], vars))).toEqual({ 'node-a': 0 })
  })

  test('fails early without an API address', async () => {
    const rejected = await ansible.play('deploy_muster_agent', ['node-a'], { muster_agent_offline_dir: 'agent' })
    expect(rejected.code).not.toBe(0)
    expect(rejected.output).toContain('Set muster_agent_api_url, muster_agent_cluster_id')
  })
})
