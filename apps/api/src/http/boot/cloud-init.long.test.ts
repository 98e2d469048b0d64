import { globSync } from 'node:fs'
import { assignBootProfile, createBootProfile } from '@muster/core/boot-profiles'
import { addNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { createLab } from '@muster/lab/testing'
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { bootConfigOf, bootUrlsOf } from './config.ts'
import { serveBoot } from './server.ts'

const { bootAttempts, bootFetches, computeNodes } = schema
const packages = process.env.CLOUD_INIT_PACKAGES
const MAC = '02:00:5e:78:00:01'
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEl0JzdmWmBTpMUO8mPbZ1kZn6Iu7dB2nQ5bKm3H0x0V admin@site'
/** Steps of cloud-init that systemd starts in this order. */
const STEPS = [['init', '--local'], ['init'], ['modules', '--mode=config'], ['modules', '--mode=final']]
/** Modules of cloud.cfg that a node in namespaces supports: it has no disks of its own, boot loader or systemd. */
const CONFIG = (seed: string) => `datasource_list: [NoCloud]
datasource: { NoCloud: { seedfrom: '${seed}' } }
users: []
disable_root: true
preserve_hostname: false
network: { config: disabled }
cloud_init_modules: [write-files, set_hostname, update_etc_hosts, users-groups, ssh]
cloud_config_modules: [runcmd]
cloud_final_modules: [scripts-user, phone-home]
system_info: { distro: debian, default_user: { name: debian } }
`

test.skipIf(!packages)('Debian’s cloud-init applies our NoCloud data and phones home', async () => {
  const lab = await createLab({
    nodes: [{ name: 'cloud' }],
    bastion: false,
    folders: [{ folder: packages!, path: '/mnt/packages' }],
  })
  const node = lab.node('cloud')
  await using t = await testApi().then((api) => Object.assign(api, { [Symbol.asyncDispose]: () => api.close() }))
  const ours = await t.given.tenant()
  const settings = {
    BOOT_HOST: lab.hostAddress,
    BOOT_PORT: 0,
    BOOT_TENANT: ours.tenant.name,
    BOOT_TOKENS_WITHOUT_TLS: '1' as const,
  }
  const urls = { current: bootUrlsOf(settings, '') }
  const server = await serveBoot(t.api, bootConfigOf(settings, '')!, (tenant) => urls.current(tenant))
  const base = `http://${lab.hostAddress}:${server.port}`
  urls.current = bootUrlsOf({ ...settings, BOOT_URL: base }, '')

  const { id } = await addNode(ours.operator, {
    name: 'cn-01',
    host: node.host,
    interfaces: [{ name: 'eth0', mac: MAC, isBoot: true }],
  })
  const parent = await createBootProfile(ours.admin, {
    name: 'site',
    kernel: { url: 'http://files.test/vmlinuz' },
    userData: '#cloud-config\nwrite_files:\n  - { path: /etc/motd, content: "Willkommen in Zürich, 欢迎\\n" }\n',
  })
  const profile = await createBootProfile(ours.admin, {
    name: 'compute',
    parentId: parent.id,
    adminUser: 'siteadmin',
    sshKeys: [KEY],
    userData: '#!/bin/sh\necho "größe 大小" > /root/script-ran\n',
  })
  await assignBootProfile(ours.admin, { profileId: profile.id, nodeIds: [id] })
  // The script begins the boot, for which the first user-data has a token.
  expect((await fetch(`${base}/boot/v1/bootscript?mac=${MAC}&arch=x86_64`)).status).toBe(200)

  const run = async (...argv: string[]) => {
    const result = await node.exec(argv)
    if (result.code !== 0) throw new Error(`${argv.join(' ')} failed: ${result.stderr || result.stdout}`)
    return result.stdout
  }
  // Not configured: the packages' scripts would start services with systemd.
  const debs = globSync('*.deb', { cwd: packages! }).map((deb) => `/mnt/packages/${deb}`)
  await run('dpkg', '--unpack', '--force-depends', '--force-confnew', ...debs)
  await node.exec(['tee', '/etc/cloud/cloud.cfg'], { input: CONFIG(`${base}/boot/v1/nocloud/cn-01/`) })
  for (const step of STEPS) await run('cloud-init', ...step)

  expect(await run('hostname')).toBe('cn-01\n')
  expect(await run('cat', '/etc/motd')).toBe('Willkommen in Zürich, 欢迎\n')
  expect(await run('cat', '/root/script-ran')).toBe('größe 大小\n')
  expect(await run('cat', '/home/siteadmin/.ssh/authorized_keys')).toContain(KEY)
  expect(await run('sudo', '-u', 'siteadmin', 'sudo', '-n', 'id', '-un')).toBe('root\n')
  expect(await run('getent', 'passwd', 'siteadmin')).toMatch(/:\/bin\/bash$/m)
  const { instance_id } = JSON.parse(await run('cat', '/run/cloud-init/instance-data.json')).v1
  expect(instance_id).toMatch(/^i-\w{16}$/)

  const [attempt] = await t.runtime.db.select().from(bootAttempts).where(eq(bootAttempts.nodeId, id))
  const fetches = await t.runtime.db.select().from(bootFetches).where(eq(bootFetches.attemptId, attempt!.id))
  expect(fetches.find(({ kind, hasToken }) => kind === 'USER_DATA' && hasToken)).toBeDefined()
  expect(fetches.filter(({ kind }) => kind === 'PHONE_HOME')).toHaveLength(1)
  const [row] = await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.id, id))
  const hostKey = (await run('cat', '/etc/ssh/ssh_host_ed25519_key.pub')).split(' ', 2).join(' ').trim()
  expect(row!.offeredHostKey).toBe(hostKey)
  await server.stop()
})
