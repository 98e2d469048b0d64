import { afterAll, beforeAll, expect, it } from 'vitest'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

let t: TestApi
beforeAll(async () => {
  t = await startTestApi()
  const { admin } = await t.given.tenant()
  const credential = await t.given.credential(admin, 'SSH_KEY')
  await t.given.fleet(admin, { nodes: 101, with: () => ({ credentialId: credential.id, hostKey: 'ssh-ed25519 AAAA' }) })
  await t.signIn(admin)
  for (const name of ['probe', 'change'])
    await muster(`template create ${name} --shipped --playbook ${name}.yml --become --become-method su --become-user app`)
})
afterAll(() => t?.close())

it('filters runs, and explains why a run cannot be retried', async () => {
  const [first, second] = [await muster('run probe -l gpu001 -d'), await muster('run change -l all -d --reason CHG-4711')]
  await muster('cancel last')
  const counts = { '--number 9': 2, '--node gpu001': 2, '--node gpu002': 1, '--status PENDING CANCELED': 2, '--status FAILED': 0 }
  for (const [options, count] of Object.entries(counts))
    expect(JSON.parse((await muster(`runs ${options} -o json`)).out), options).toHaveLength(count)
  expect((await muster('runs --template probe --status pending')).out).toContain(first.out.trim())
  expect((await muster('runs --text chg-4711')).out).toContain(second.out.trim())
  expect((await muster('runs --text nothing')).err).toContain('No runs match.')
  expect(await muster('runs --template nope')).toMatchObject({ code: 4, err: expect.stringContaining('muster template list') })
  expect((await muster('runs get last')).out).toMatch(/^become +app by su$/m)
  expect((await muster('runs get last')).out).toMatch(/^created +\d+ (s|min) ago$(?![\s\S]*^started)/m)
  expect(await muster('retry last')).toMatchObject({ code: 5, err: expect.stringContaining('choose those that were not run') })
  await muster('retry last --not-run -d')
  expect((await muster('runs get last')).out).toMatch(/^pending +101 /m)
})

it('previews more nodes than one page', async () => {
  const { hosts, hostlist } = JSON.parse((await muster('run probe -l all --preview -o json')).out)
  expect([hosts.length, hostlist]).toEqual([101, 'gpu[001-101]'])
})
