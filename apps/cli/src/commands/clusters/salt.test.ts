import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ScalingFixture, scalingFixture } from '../../../../../packages/core/src/testing/scaling-fixture.ts'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

let t: TestApi
let fixture: ScalingFixture
let folder: string
let credential: { id: string; name: string }
beforeAll(async () => {
  t = await startTestApi()
  fixture = await scalingFixture(t)
  credential = await t.given.credential(fixture.ours.admin, 'SALT')
  await t.signIn(fixture.ours.admin)
  folder = mkdtempSync(path.join(tmpdir(), 'muster-salt-'))
  const make =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=salt.test -keyout key.pem -out ca.pem'
  execFileSync('openssl', make.split(' '), { cwd: folder, stdio: 'ignore' })
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await t?.close()
})

const stored = async (name: string) => (await t.runtime.db.query.slurmClusters.findFirst({ where: { name } }))!
const nameOf = (i: number) => fixture.nodes[i]!.name
const create = (...options: string[]) => {
  const nodes = ['--controller', nameOf(0), '--compute', `${nameOf(1)},${nameOf(2)}`]
  return muster(['cluster', 'create', 'prod', ...nodes, '--reason', 'test', '--no-watch', ...options])
}
const update = (...options: string[]) => muster(['cluster', 'update', 'prod', ...options])

it('creates a cluster with Salt', async () => {
  expect(await create('--salt-credential', 'nope')).toMatchObject({ code: 4, err: expect.stringContaining('nope') })
  expect(await create('--salt-installs', 'maybe')).toMatchObject({ code: 2, err: expect.stringContaining('--salt-installs') })
  expect(await create('--salt-installs', 'yes')).toMatchObject({
    code: 5,
    err: expect.stringContaining('saltInstalls: requires a credential of the kind SALT'),
  })
  const given = ['--salt-credential', credential.name, '--salt-eauth', 'ldap', '--salt-ca-file', path.join(folder, 'ca.pem')]
  expect(await create(...given, '--salt-installs', 'yes')).toMatchObject({ code: 0, err: expect.stringMatching(/^Started\./) })
  expect(await stored('prod')).toMatchObject({
    ...{ saltCredentialId: credential.id, saltEauth: 'ldap', saltInstalls: true },
    saltCaCertificate: expect.stringMatching(/^-----BEGIN CERTIFICATE-----/),
  })
  expect((await muster('cluster get prod')).out).toMatch(
    new RegExp(`^salt +${credential.name} \\(ldap\\), installs the packages$`, 'm'),
  )
})

it('changes single settings of Salt, and ends its use', async () => {
  expect(await update('--salt-installs', 'no')).toMatchObject({ code: 0, err: 'Updated prod.\n' })
  expect(await stored('prod')).toMatchObject({ saltCredentialId: credential.id, saltEauth: 'ldap', saltInstalls: false })
  expect(await update('--salt-eauth', '', '--salt-ca-file', '')).toMatchObject({ code: 0 })
  expect(await stored('prod')).toMatchObject({ saltEauth: 'pam', saltCaCertificate: null })
  expect((await update('--salt-ca-file', path.join(folder, 'key.pem'))).err).toContain('saltCaCertificate: ')
  expect((await update('--salt-ca-file', path.join(folder, 'missing.pem'))).code).toBe(2)
  expect(await update('--salt-credential', '')).toMatchObject({ code: 0 })
  expect(await stored('prod')).toMatchObject({ saltCredentialId: null, saltEauth: null })
  expect((await muster('cluster get prod')).out).not.toMatch(/^salt/m)
})
