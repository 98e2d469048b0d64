import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { firstStart } from '../../../../api/src/first-start.ts'
import { PUBLIC_URL } from '../../../../api/src/testing/api.ts'
import { insertSession } from '../../../../api/src/testing/sessions.ts'
import { totpCode } from '../../../../api/src/testing/totp.ts'
import { post } from '../../client.ts'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

let t: TestApi
let home: string
let ours: string
beforeAll(async () => {
  t = await startTestApi()
  const { admin, tenant } = await t.given.tenant()
  ours = tenant.name
  await t.given.fleet(admin, { nodes: 2 })
  await t.signIn(admin)
  home = mkdtempSync(join(tmpdir(), 'muster-access-'))
  vi.stubEnv('XDG_CONFIG_HOME', home)
})
afterAll(async () => {
  await t?.close()
  rmSync(home, { recursive: true, force: true })
})

it('creates, lists and revokes API tokens', async () => {
  const created = await muster('token create prometheus --role viewer --days 7')
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^mst_\S{40,}\n$/) })
  const [, prefix] = /^Created (\S+)… \(viewer\), expires /.exec(created.err)!
  expect(created.err).not.toContain(created.out.trim())
  expect((await muster('token list')).out).toMatch(new RegExp(`^${prefix} +prometheus +viewer +valid `, 'm'))

  // The token works, with its own role.
  const ownToken = process.env.MUSTER_TOKEN!
  vi.stubEnv('MUSTER_TOKEN', created.out.trim())
  expect((await muster('node list -o name')).out).toBe('gpu001\ngpu002\n')
  expect((await muster('node decommission gpu001')).code).toBe(3)
  vi.stubEnv('MUSTER_TOKEN', ownToken)

  expect((await muster(['token', 'revoke', prefix!])).err).toBe(`Revoked ${prefix}… (prometheus).\n`)
  expect((await muster('token list -o name')).out).not.toContain(prefix)
  expect((await muster('token list --all')).out).toMatch(new RegExp(`^${prefix} +prometheus +viewer +revoked `, 'm'))
  expect(await muster('token revoke nothing')).toMatchObject({ code: 4, err: expect.stringContaining('muster token list') })
})

it('creates custom roles, grants and limited tokens', async () => {
  const created = await muster([
    'role',
    'create',
    'night-shift',
    '--permissions',
    'job_run:start,job_run:cancel',
    '--permissions',
    'alert:write',
  ])
  expect(created.err).toBe('Created the role night-shift: alert:write job_run:cancel job_run:start tenant:read.\n')
  expect((await muster('role list')).out).toMatch(
    /^night-shift +custom +- +alert:write job_run:cancel job_run:start tenant:read$/m,
  )
  expect(
    (await muster(['role', 'update', 'night-shift', '--permissions', 'job_run:start', '--description', 'nights'])).err,
  ).toContain('Changed the role night-shift: job_run:start tenant:read.')
  expect(await muster('role create too-much --permissions audit:write')).toMatchObject({ code: 3 })
  await muster(['member', 'add-service-account', 'nightly', '--role', 'viewer'])
  await muster(['group', 'create', 'gpu_prod'])
  await muster(['group', 'add-nodes', 'gpu_prod', 'gpu001'])
  const granted = await muster([
    'grant',
    'create',
    'nightly',
    '--role',
    'night-shift',
    '--group',
    'gpu_prod',
    '--template',
    'connectivity_check',
  ])
  expect(granted.err).toBe('Granted the role night-shift to nightly for the nodes of gpu_prod.\n')
  expect((await muster('grant list')).out).toMatch(/^nightly +night-shift +the nodes of gpu_prod +connectivity_check +all /m)
  expect(await muster('role delete night-shift --yes')).toMatchObject({
    code: 5,
    err: expect.stringContaining('a grant of nightly'),
  })
  const token = await muster([
    'token',
    'create',
    'limited',
    '--role',
    'operator',
    '--permissions',
    'job_run:start',
    '--group',
    'gpu_prod',
    '--service-account',
    'nightly',
  ])
  expect((await muster('token list -o wide')).out).toMatch(/ limited +operator .* job_run:start,tenant:read +gpu_prod /)
  const ownToken = process.env.MUSTER_TOKEN!
  vi.stubEnv('MUSTER_TOKEN', token.out.trim())
  expect(await muster(['run', 'connectivity_check', '--limit', 'gpu002'])).toMatchObject({
    code: 3,
    err: expect.stringMatching(/your grants cover only the nodes of gpu_prod, not gpu002/),
  })
  expect((await muster('role permissions')).out).toMatch(/^job_run:start +yes /m)
  vi.stubEnv('MUSTER_TOKEN', ownToken)
  expect(await muster('grant delete nightly --group other --yes')).toMatchObject({ code: 4 })
  expect((await muster(['grant', 'delete', 'nightly', '--group', 'gpu_prod', '--yes'])).err).toBe(
    'Deleted 1 grant of nightly for gpu_prod.\n',
  )
  expect((await muster('role delete night-shift --yes')).err).toBe('Deleted the role night-shift.\n')
})

it('invites, lists, changes and removes members', async () => {
  const invited = await muster('member invite Ada@site.test --role operator --days 2')
  expect(invited).toMatchObject({ code: 0, out: expect.stringMatching(/\/invitation#token=msi_\S+\n$/) })
  expect(invited.err).toContain('ada@site.test')
  expect((await muster('member invitations')).out).toMatch(/^ada@site.test +operator +open /m)
  expect((await muster('member uninvite ada@site.test')).err).toBe('Revoked the invitation for ada@site.test.\n')
  expect((await muster('member invitations -o name')).out).toBe('')
  expect((await muster('member invitations --all')).out).toMatch(/^ada@site.test +operator +revoked /m)
  expect(await muster('member uninvite ada@site.test')).toMatchObject({ code: 4 })

  expect((await muster(['member', 'add-service-account', 'ci', '--role', 'operator'])).err).toContain('ci (operator)')
  const token = await muster('token create build --role operator --service-account ci --network 127.0.0.1 --network 10.0.0.0/8')
  expect((await muster('token list -o wide')).out).toMatch(
    / build +operator .* ci +all of the role +all nodes +127.0.0.1\/32,10.0.0.0\/8 /,
  )
  const ownToken = process.env.MUSTER_TOKEN!
  vi.stubEnv('MUSTER_TOKEN', token.out.trim())
  expect(JSON.parse((await muster('whoami -o json')).out)).toMatchObject({
    role: 'operator',
    isInstallationAdmin: false,
    token: { permissions: 'all of the role', nodeGroups: 'all nodes', networks: ['127.0.0.1/32', '10.0.0.0/8'] },
  })
  vi.stubEnv('MUSTER_TOKEN', ownToken)
  expect((await muster('member role ci viewer')).err).toBe('ci is now viewer.\n')
  expect((await muster('member suspend ci')).err).toBe('Suspended ci.\n')
  expect((await muster('member list')).out).toMatch(/^ci +ci +viewer +suspended/m)
  expect((await muster('member resume ci')).err).toBe('Resumed ci.\n')
  expect(await muster('member remove ci')).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
  expect((await muster('member remove ci --yes')).err).toBe('Removed ci.\n')
  expect(await muster('member suspend ci')).toMatchObject({ code: 4, err: expect.stringContaining('muster member list') })
  const owner = (await muster('member list -o name')).out.split('\n').find((name) => name.startsWith('owner@'))!
  expect(await muster(['member', 'suspend', owner])).toMatchObject({
    code: 3,
    err: expect.stringContaining('includes permissions that'),
  })
  expect(await muster(['member', 'transfer-ownership', owner, '--yes'])).toMatchObject({ code: 3 })
})

it('lists and tests the sign-in methods', async () => {
  const url = process.env.MUSTER_URL!
  expect(await muster(`login ${url} --ldap ada --password-stdin`, 'any')).toMatchObject({
    code: 4,
    err: expect.stringContaining('LDAP'),
  })
  expect((await muster('sign-in list')).out).toMatch(/^password +- +-/m)
  expect(await muster('sign-in test oidc')).toMatchObject({ code: 3, err: expect.stringContaining('installation administrator') })
  const own = process.env.MUSTER_TOKEN!
  vi.stubEnv('MUSTER_TOKEN', await t.tokenOf((await t.given.tenant()).installationAdmin))
  expect(await muster('sign-in test oidc')).toMatchObject({ code: 4, err: expect.stringContaining('OIDC') })
  vi.stubEnv('MUSTER_TOKEN', own)
})

it('accepts an invitation with its link', async () => {
  const invited = await muster('member invite grace@site.test --role operator')
  const { hash } = new URL(invited.out.trim())
  const link = `${process.env.MUSTER_URL}/invitation${hash}`
  expect(await muster(['member', 'accept', link, '--name', 'Grace', '--password-stdin'], 'correct horse battery')).toMatchObject({
    code: 0,
    err: expect.stringContaining(`grace@site.test is a member of ${ours} (operator)`),
  })
  expect((await muster('member list')).out).toContain('grace@site.test')
  expect(await muster(['member', 'accept', link])).toMatchObject({ code: 4 })
  expect(await muster('member accept https://muster.test/invitation')).toMatchObject({ code: 2 })
})

it('sets and ends the confirmation of identities', async () => {
  expect(await muster('sign-in step-up 15')).toMatchObject({ code: 3 })
  const { owner, tenant } = await t.given.tenant()
  const own = process.env.MUSTER_TOKEN!
  vi.stubEnv('MUSTER_TOKEN', await t.tokenOf(owner))
  expect((await muster('sign-in step-up 15')).err).toBe(
    `Members of ${tenant.name} must confirm their identity again after 15 min.\n`,
  )
  expect((await muster('sign-in step-up off')).err).toBe(`Members of ${tenant.name} need not confirm their identity again.\n`)
  expect(await muster('sign-in step-up 0')).toMatchObject({ code: 2 })
  vi.stubEnv('MUSTER_TOKEN', own)
})

it('filters the audit log by channel, kind of actor and time', async () => {
  const list = async (filter: string) => (await muster(`audit list --action invitation.create ${filter} -o json`)).out
  expect(await list('--channel cli --actor-kind token')).toContain('grace@site.test')
  for (const filter of ['--channel console', '--actor-kind user', '--until 2026-01-01T00:00:00Z'])
    expect(await list(filter)).not.toContain('grace@site.test')
})

it('changes the password, which then signs in', async () => {
  const { email, signInLink } = await firstStart(t, { tenantName: 'First', email: 'owner@muster.test', publicUrl: PUBLIC_URL })
  const token = new URLSearchParams(new URL(signInLink!).hash.slice(1)).get('token')
  const [first, second] = ['correct horse battery', 'staple battery horse']
  const link = await post<{ signInWithLink: { sessionToken: string } }>(
    'mutation ($token: String!) { signInWithLink(input: { token: $token }) { ... on SignInWithLinkPayload { sessionToken } } }',
    { token },
  )
  await post(
    'mutation ($password: String!) { setPassword(input: { password: $password }) { __typename } }',
    { password: first },
    { url: process.env.MUSTER_URL!, token: link.data!.signInWithLink.sessionToken },
  )

  const wrong = await muster(['password', '--email', email, '--stdin'], `wrong password\n${second}\n`)
  expect(wrong).toMatchObject({ code: 3, out: '' })
  const changed = await muster(['password', '--email', email, '--stdin'], `${first}\n${second}\n`)
  expect(changed).toMatchObject({ code: 0, err: expect.stringContaining('Password changed.') })
  const login = ['login', process.env.MUSTER_URL!, '--email', email, '--password-stdin']
  expect((await muster(login, first)).code).toBe(3)
  expect(await muster(login, second)).toMatchObject({ code: 0, err: expect.stringContaining('(admin of ') })
  expect(await muster(['password', '--email', email, '--stdin'], second)).toMatchObject({ code: 2 })

  // The sessions of logins above; the session of the command itself ends with it.
  const session = ['--email', email, '--password-stdin']
  const listed = (await muster(['session', 'list', '-o', 'name', ...session], second)).out.trim().split('\n')
  expect(listed.length).toBeGreaterThan(1)
  expect(await muster(['session', 'end', listed[0]!, ...session], second)).toMatchObject({ code: 0, err: 'Ended the session.\n' })
  expect(await muster(['session', 'end', listed[0]!, ...session], second)).toMatchObject({ code: 4 })
  expect(await muster(['session', 'end', ...session], second)).toMatchObject({ code: 2 })
  expect((await muster(['session', 'end', '--all', ...session], second)).err).toMatch(/^Ended \d+ sessions\.\n$/)
  expect((await muster(['session', 'list', '-o', 'name', ...session], second)).out).toBe('')

  // With an authenticator app, a code is the second line.
  await setUpTotp(email, second)
  expect(await muster(login, second)).toMatchObject({ code: 2, err: expect.stringContaining('second line') })
  expect(await muster(login, `${second}\n000000`)).toMatchObject({ code: 3 })
  expect(await muster(login, `${second}\n${recoveryCode}`)).toMatchObject({ code: 0 })
})

let recoveryCode: string
/** Sets up an authenticator app in the way of the console. */
async function setUpTotp(email: string, password: string) {
  const { data } = await post<{ signIn: { sessionToken: string } }>(
    'mutation ($email: String!, $password: String!) { signIn(input: { email: $email, password: $password }) { ... on SignInPayload { sessionToken } } }',
    { email, password },
  )
  const access = { url: process.env.MUSTER_URL!, token: data!.signIn.sessionToken }
  const started = await post<{ startTotp: { uri: string; recoveryCodes: string[] } }>(
    'mutation ($password: String!) { startTotp(input: { currentPassword: $password }) { ... on StartTotpPayload { uri recoveryCodes } } }',
    { password },
    access,
  )
  const { uri, recoveryCodes } = started.data!.startTotp
  recoveryCode = recoveryCodes[0]!
  await post('mutation ($code: String!) { confirmTotp(input: { code: $code }) { __typename } }', { code: totpCode(uri) }, access)
}

it('saves and deletes the settings', async () => {
  const url = process.env.MUSTER_URL!
  expect((await muster(`login ${url} --token-stdin`, process.env.MUSTER_TOKEN)).code).toBe(0)
  expect(JSON.parse(readFileSync(join(home, 'muster/cli.json'), 'utf8'))).toEqual({
    url,
    token: process.env.MUSTER_TOKEN,
    tokens: { [ours]: process.env.MUSTER_TOKEN },
  })
  expect((await muster('logout')).code).toBe(0)
  expect(() => readFileSync(join(home, 'muster/cli.json'))).toThrow('ENOENT')
})

it('uses the token of the tenant that is asked for, and no token in another tenant', async () => {
  const url = process.env.MUSTER_URL!
  const tokens = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const { owner, tenant } = await t.given.tenant()
      return { name, tenant: tenant.name, token: await t.tokenOf(owner) }
    }),
  )
  for (const { token } of tokens) expect((await muster(`login ${url} --token-stdin`, token)).code).toBe(0)
  const before = process.env.MUSTER_TOKEN
  vi.stubEnv('MUSTER_TOKEN', undefined)
  for (const { tenant } of tokens)
    expect(JSON.parse((await muster(['--tenant', tenant, 'whoami', '-o', 'json'])).out)).toMatchObject({ tenant })
  vi.stubEnv('MUSTER_TENANT', 'somebody else')
  expect(await muster('whoami')).toMatchObject({ code: 3, err: expect.stringContaining('belongs to the tenant') })
  vi.stubEnv('MUSTER_TENANT', undefined)
  vi.stubEnv('MUSTER_TOKEN', before)
})

it('creates, limits, suspends, resumes and deletes tenants as an installation administrator', async () => {
  expect(await muster('tenant list')).toMatchObject({ code: 3, err: expect.stringContaining('installation administrator') })
  const before = process.env.MUSTER_TOKEN
  const { installationAdmin } = await t.given.tenant()
  vi.stubEnv('MUSTER_TOKEN', await t.tokenOf(installationAdmin))
  expect(await muster('tenant create GPU_team')).toMatchObject({ code: 0, err: expect.stringContaining('Created GPU team') })
  expect((await muster('tenant update GPU_team --name ml --max-runs 3')).code).toBe(0)
  expect((await muster('tenant suspend ml --yes')).code).toBe(0)
  const rows = JSON.parse((await muster('tenant list -o json')).out) as { name: string }[]
  expect(rows.find(({ name }) => name === 'ml')).toMatchObject({ maxConcurrentRuns: 3, suspendedAt: expect.any(String) })
  expect((await muster('tenant resume ml')).code).toBe(0)
  expect(await muster('tenant resume ml')).toMatchObject({ code: 5, err: expect.stringContaining('is not suspended') })
  expect(await muster('tenant delete ml --yes')).toMatchObject({ code: 5, err: expect.stringContaining('Suspend it first') })
  expect((await muster('tenant suspend ml --yes')).code).toBe(0)
  expect(await muster('tenant delete ml --yes')).toMatchObject({ code: 0, err: expect.stringContaining('Deleting ml') })
  expect((await muster('tenant list')).out).toMatch(/^ml +deleting +0 +0\/3 +1 /m)
  vi.stubEnv('MUSTER_TOKEN', before)
})

it('appoints, lists and dismisses installation administrators', async () => {
  const before = process.env.MUSTER_TOKEN
  const { installationAdmin, tenant } = await t.given.tenant()
  vi.stubEnv('MUSTER_TOKEN', await t.tokenOf(installationAdmin))
  const email = `viewer@${tenant.name}.test`
  const emails = async () =>
    (JSON.parse((await muster('installation-admin list -o json')).out) as { email: string }[]).map((x) => x.email)
  expect(await muster(`installation-admin appoint ${email}`)).toMatchObject({ code: 0, err: expect.stringContaining('is now') })
  expect(await emails()).toContain(email)
  expect((await muster(`installation-admin dismiss ${email} --yes`)).code).toBe(0)
  expect(await emails()).not.toContain(email)
  expect(await muster(`installation-admin dismiss ${email} --yes`)).toMatchObject({
    code: 4,
    err: expect.stringContaining(email),
  })
  vi.stubEnv('MUSTER_TOKEN', before)
})

it('signs in through the browser, with the real program', async () => {
  const { operator, tenant } = await t.given.tenant()
  const url = process.env.MUSTER_URL!
  const { token } = await insertSession(t.runtime.db, operator.actor.id!)
  const folder = mkdtempSync(join(tmpdir(), 'muster-web-'))
  const { MUSTER_TOKEN: _token, MUSTER_URL: _url, ...env } = process.env
  const program = spawn(
    process.execPath,
    [new URL('../../main.ts', import.meta.url).pathname, 'login', url, '--web', '--tenant', tenant.name],
    { env: { ...env, XDG_CONFIG_HOME: folder }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let output = ''
  program.stderr.on('data', (chunk) => (output += chunk))
  const exited = new Promise<number | null>((resolve) => program.once('exit', resolve))
  try {
    const [, userCode] = await vi.waitFor(() => /enter the code (\S+)/.exec(output) ?? expect.unreachable(output), 30_000)
    await post(
      'mutation ($code: String!) { approveDeviceSignIn(input: { userCode: $code }) { __typename } }',
      { code: userCode },
      { url, token },
    )
    expect(await exited, output).toBe(0)
    expect(output).toContain(`operator of ${tenant.name}`)
    expect(readFileSync(join(folder, 'muster', 'cli.json'), 'utf8')).toMatch(/mst_/)
  } finally {
    program.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
