import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

let t: TestApi
const directory = mkdtempSync(join(tmpdir(), 'boot-profiles-'))
beforeAll(async () => {
  t = await startTestApi()
  const { admin } = await t.given.tenant()
  await t.given.fleet(admin, { nodes: 3, with: { arch: 'x86_64' } })
  await t.signIn(admin)
})
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await t?.close()
})
const file = (name: string, text: string) => {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}

it('creates, changes, compares and restores a profile', async () => {
  expect((await muster('boot-profile list')).err).toBe('No boot profiles yet. Create one with `muster boot-profile create`.\n')
  const keys = file('ops.pub', `# ops\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ops\n\n`)
  const user = file('user.yml', '#cloud-config\npackages: [chrony]\n')
  const checksum = `sha256:${'a'.repeat(64)}`
  expect(
    await muster([
      ...['boot-profile', 'create', 'base', '--arch', 'x86_64', '--initrd', 'http://10.0.0.1/a.img', '--param', 'quiet'],
      ...['--admin-user', 'ops', '--ssh-key', keys, '--user-data', user, '--comment', 'first'],
    ]),
  ).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^Created base, version 1\.\nNo kernel URL is set in the profile or its parents: /),
  })
  expect(
    await muster([
      'boot-profile',
      'create',
      'gpu',
      '--parent',
      'base',
      '--kernel',
      `http://10.0.0.1/k,${checksum}`,
      '--no-initrds',
    ]),
  ).toMatchObject({ code: 0, err: 'Created gpu, version 1.\n' })
  const shown = (await muster('boot-profile get gpu')).out
  expect(shown).toContain(`http://10.0.0.1/k ${checksum}\n`)
  expect(shown).toMatch(/^kernel parameters +quiet \(from base\)$/m)
  expect(shown).toMatch(/^initrds +-$/m)
  expect(shown).toMatch(/^user-data +#cloud-config, 33 bytes \(from base\)$/m)
  expect((await muster(['boot-profile', 'update', 'gpu', '--param', 'a=1', '--param', 'b', '--arch', ''])).err).toBe(
    'Updated gpu, version 2.\n',
  )
  expect((await muster('boot-profile update gpu --param a=1 --param b')).err).toBe('No changes; gpu has version 2.\n')
  expect((await muster('boot-profile diff gpu 1')).out).toMatch(/^FIELD +BEFORE +AFTER *\nkernelParams +\[\] +\["a=1","b"\]\n$/)
  expect((await muster('boot-profile restore gpu 1 --comment back')).err).toBe('Restored version 1 of gpu: version 3.\n')
  expect((await muster('boot-profile history gpu')).out).toMatch(
    /^3 .*kernelParams +back\n2 .*kernelParams +-\n1 .*parent, kernel, initrds +-\n/m,
  )
  expect(JSON.parse((await muster('boot-profile list -o json')).out)).toMatchObject([
    { name: 'base', version: 1, parent: null },
    { name: 'gpu', version: 3, parent: { name: 'base' }, assignments: { totalCount: 0 } },
  ])
  const rejected = [
    ['boot-profile delete base', 5, 'The boot profile base is the parent of gpu'],
    ['boot-profile get nope', 4, 'muster boot-profile list'],
    ['boot-profile create x --kernel file:///etc/passwd', 5, 'kernel.url: must be an http'],
    ['boot-profile create x --initrd http://a --no-initrds', 2, 'not both'],
    ['boot-profile update base --parent gpu', 5, 'this would create a cycle'],
    ['boot-profile diff gpu 9', 4, 'has no version 9'],
    ['boot-profile assign gpu', 2, 'Name nodes, --groups'],
  ] as const
  for (const [line, code, reason] of rejected)
    expect(await muster(line), line).toMatchObject({ code, err: expect.stringContaining(reason) })
})

it('assigns a profile and shows what nodes boot and why', async () => {
  await muster('boot-profile create rescue --kernel http://10.0.0.1/rescue')
  await muster('group create racks --kind partition')
  expect((await muster('group list --kind partition -o name')).out).toBe('racks\n')
  expect((await muster('group list --kind job')).out).toBe('')
  await muster('group add-nodes racks gpu[001-002]')
  expect((await muster('boot-profile assign gpu --groups racks --all-nodes')).err).toBe(
    'Assigned gpu to 1 group, all nodes. `muster node boot-profile` shows what nodes boot.\n',
  )
  expect((await muster('boot-profile assign rescue gpu001 --priority 5')).code).toBe(0)
  expect((await muster('node boot-profile all')).out.replace(/ +/g, ' ')).toBe(
    [
      'NODE PROFILE VERSION THROUGH ADDED PROBLEM',
      'gpu001 rescue 1 node (priority 5) - -',
      'gpu002 gpu 3 group racks (priority 100) - -',
      'gpu003 gpu 3 all nodes (priority 100) - -\n',
    ].join('\n'),
  )
  const { out } = await muster('node boot-profile gpu001')
  expect(out).toMatch(/^profile +rescue, version 1$/m)
  expect(out).toMatch(/^lost +gpu, group racks \(priority 100\): rescue is assigned to the node itself, which comes first\.$/m)
  expect((await muster('boot-profile delete rescue')).err).toContain('is assigned to the node gpu001; unassign it first')
  expect((await muster('boot-profile get rescue')).out).toMatch(/^assigned to +gpu001 \(priority 5\)$/m)
  expect((await muster('boot-profile unassign rescue gpu001')).err).toBe('Unassigned rescue from 1 node.\n')
  expect((await muster('boot-profile delete rescue')).err).toBe('Deleted rescue.\n')
  expect((await muster('node boot-profile gpu001')).out).toMatch(/^profile +gpu, version 3$/m)
  // An addition to the group.
  expect((await muster('boot-profile create site --param console=tty9')).code).toBe(0)
  await muster('boot-profile assign site --groups racks --priority 7')
  const added = (await muster('node boot-profile gpu001')).out
  expect(added).toMatch(/^added +site, version 1, group racks \(priority 7\)$/m)
  expect(added).toMatch(/^(kernel parameters)? +console=tty9 \(from site\)$/m)
  expect((await muster('node boot-profile all')).out).toMatch(/^gpu001 +gpu +3 +group racks \(priority 100\) +site +-$/m)
  expect((await muster('boot preview gpu001')).out).toMatch(/^==> BOOT_SCRIPT \w{12} from .*site v1/m)
})
