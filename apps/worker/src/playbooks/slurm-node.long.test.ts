import { canRunSlurm, serveSlurmPackages } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPlaybookRunner, type PlaybookResult } from '../testing/playbook-runner.ts'
import { changes, succeeded } from '../testing/template-fixture.ts'

const config = (controller: string, node: string) => `ClusterName=test
SlurmctldHost=ctl(${controller})
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmctldParameters=enable_configless
SlurmdParameters=config_overrides
NodeName=cpu NodeAddr=${node} CPUs=2 RealMemory=1000
PartitionName=batch Nodes=ALL Default=YES
`

describe.runIf(canRunSlurm())('the role slurm_node', () => {
  test("installs Debian's packages from a repository, changes nothing in a second run, and removes all", {
    timeout: 600_000,
  }, async () => {
    const lab = await createLab({
      nodes: [
        { name: 'ctl', profile: 'cpu' },
        { name: 'cpu', profile: 'cpu' },
      ],
      bastion: false,
      mode: 'namespaces',
    })
    const repository = await serveSlurmPackages(lab)
    const { play, remove } = createPlaybookRunner(lab)
    onTestFinished(() => Promise.all([repository.close(), remove()]).then(() => {}))
    const on = async (node: string, command: string) => (await lab.node(node).exec(['sh', '-c', command])).stdout.trim()
    const shared = { slurm_munge_key: 'k'.repeat(1024), slurm_node_repository_url: repository.url }
    const [controller, node] = [lab.node('ctl').host, lab.node('cpu').host]
    const files = { 'slurm.conf': config(controller, node), 'cgroup.conf': 'CgroupPlugin=cgroup/v1\n' }
    const compute = { ...shared, slurm_node_controllers: [controller] }

    const withoutKey = await play('slurm_node', ['cpu'], { slurm_node_controllers: [controller] })
    expect(changes(withoutKey)).toEqual({ cpu: 'failed' })
    expect(withoutKey.output).toContain('Slurm needs the munge key')
    succeeded(await play('slurm_node', ['ctl'], { ...shared, slurm_node_role: 'controller', slurm_node_config: files }))
    const installed = await play('slurm_node', ['cpu'], compute)
    succeeded(installed)
    expect(installed.output).not.toContain('kkkk')
    expect(await on('cpu', 'stat -c "%U %a" /etc/munge/munge.key; srun hostname')).toBe('munge 400\ncpu')
    expect(succeeded(await play('slurm_node', ['cpu'], compute))).toEqual({ cpu: 0 })

    succeeded(await play('slurm_node', ['cpu'], { slurm_node_state: 'absent' }))
    expect(await on('cpu', 'ls -d /etc/munge/munge.key /etc/slurm /usr/sbin/slurmd; pgrep "munged|slurmd"')).toBe('')
    expect(succeeded(await play('slurm_node', ['cpu'], { slurm_node_state: 'absent' }))).toEqual({ cpu: 0 })
  })

  test('waits for dpkg, and continues after it was killed', { timeout: 600_000 }, async () => {
    const lab = await createLab({ nodes: [{ name: 'login', profile: 'cpu' }], bastion: false, mode: 'namespaces' })
    const repository = await serveSlurmPackages(lab)
    const { play, remove } = createPlaybookRunner(lab)
    onTestFinished(() => Promise.all([repository.close(), remove()]).then(() => {}))
    const on = async (command: string) => (await lab.node('login').exec(['sh', '-c', command])).stdout.trim()
    const shared = { slurm_munge_key: 'k'.repeat(1024), slurm_node_repository_url: repository.url, slurm_node_role: 'login' }
    const install = () => play('slurm_node', ['login'], { ...shared, slurm_node_config: { 'slurm.conf': config('ctl', 'cpu') } })
    const uninstall = () => play('slurm_node', ['login'], { slurm_node_state: 'absent', slurm_node_role: 'login' })
    const state = () => on("dpkg --status munge | sed -n 's/^Status: //p'")

    /** Starts an installation, which waits in the script that configures munge. */
    async function startInstallation(): Promise<{ ended: Promise<PlaybookResult> }> {
      const input = '#!/bin/sh\ntouch /run/configuring\nwhile test -e /run/configuring; do sleep 0.1; done\n'
      await lab.node('login').exec(['sh', '-c', 'cat > /usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d'], { input })
      const ended = install()
      await vi.waitFor(async () => expect(await on('ls /run/configuring')).not.toBe(''), { timeout: 120_000, interval: 200 })
      await on('rm /usr/sbin/policy-rc.d')
      return { ended }
    }
    async function interruptInstallation(): Promise<void> {
      const { ended } = await startInstallation()
      await on('pkill -9 apt-get; pkill -9 -x dpkg; rm /run/configuring')
      expect(changes(await ended)).toEqual({ login: 'failed' })
      expect(await state()).toBe('install ok half-configured')
    }

    await interruptInstallation()
    succeeded(await install())
    expect(await state()).toBe('install ok installed')
    succeeded(await uninstall())

    await interruptInstallation()
    succeeded(await uninstall())
    expect(await on('ls -d /etc/munge /usr/sbin/munged /usr/bin/sinfo 2>/dev/null')).toBe('')

    const { ended } = await startInstallation()
    const second = install()
    // dpkg of apt has another option in between.
    await on("until pgrep -f 'force-confold --configure --pendin[g]'; do :; done")
    await on('rm /run/configuring')
    succeeded(await ended)
    const waited = await second
    succeeded(waited)
    expect(waited.output).toContain('RETRYING: [login]: Complete an interrupted installation')
  })
})
