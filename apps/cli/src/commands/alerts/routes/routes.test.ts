import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { claimAlertDelivery, finishAlertDelivery } from '../../../../../../packages/core/src/alerts/index.ts'
import { decryptRouteSecrets } from '../../../../../../packages/core/src/credentials/access.ts'
import type { TenantFixture } from '../../../../../../packages/core/src/testing/index.ts'
import { muster, startTestApi, type TestApi } from '../../../testing/muster.ts'

let t: TestApi
let fixture: TenantFixture
beforeAll(async () => {
  t = await startTestApi()
  fixture = await t.given.tenant()
  await t.signIn(fixture.admin)
})
afterAll(() => t?.close())

const routeNamed = async (name: string) =>
  (await t.runtime.db.query.alertRoutes.findFirst({ where: { tenantId: fixture.tenant.id, name } }))!

it('creates, updates and deletes routes with secrets from standard input', async () => {
  expect((await muster('alert-route list')).err).toContain('no alerts are sent')
  const duty = await muster(
    'alert-route add duty webhook --severity critical --stdin',
    'https://hooks.test/hidden\na long secret\n',
  )
  expect(duty).toMatchObject({ code: 0, err: expect.stringContaining('Created duty.') })
  const secrets = await decryptRouteSecrets(fixture.worker, await routeNamed('duty'))
  expect(secrets).toEqual({ url: 'https://hooks.test/hidden', secret: 'a long secret' })
  const mail =
    'alert-route add mail email --host mail.test -u me --from a@b.test --to c@d.test --to e@f.test --query tag_=_prod --stdin'
  expect((await muster(mail, 'a password\n')).code).toBe(0)
  expect(await decryptRouteSecrets(fixture.worker, await routeNamed('mail'))).toEqual({ secret: 'a password' })
  expect((await muster('alert-route add chat dingtalk --stdin', 'https://ding.test/?access_token=hidden\n')).code).toBe(0)
  const listed = (await muster('alert-route list')).out
  expect(listed).toMatch(/^duty +WEBHOOK +https:\/\/hooks\.test +on +CRITICAL/m)
  expect(listed).toMatch(/^mail +EMAIL +c@d\.test, e@f\.test by mail\.test +on +tag = prod/m)
  expect(listed).not.toContain('hidden')
  expect((await muster('alert-route update mail --off --no-resolved')).code).toBe(0)
  expect(await routeNamed('mail')).toMatchObject({ isEnabled: false, notifyOnResolve: false, matcher: { query: 'tag = prod' } })
  expect((await muster("alert-route update mail --query '' --username '' --port ''")).code).toBe(0)
  const { settings, matcher, encrypted } = await routeNamed('mail')
  expect([settings.port, settings.username, matcher.query, encrypted]).toEqual([587, undefined, undefined, {}])
  expect((await muster('alert-route update duty --stdin', 'https://hooks.test/other\nanother secret\n')).code).toBe(0)
  expect((await decryptRouteSecrets(fixture.worker, await routeNamed('duty'))).url).toBe('https://hooks.test/other')
  expect((await muster('alert-route delete mail')).err).toBe('Deleted mail.\n')
  expect(await muster('alert-route delete mail')).toMatchObject({
    code: 4,
    err: expect.stringContaining('No alert route named mail'),
  })
  expect(await muster('alert-route add x webhook --stdin', 'https://hooks.test/\n')).toMatchObject({
    code: 5,
    err: 'secret: is required for webhook\n',
  })
})

it('waits for the delivery of a test message', async () => {
  await muster('alert-route add tried slack --stdin', 'https://hooks.test/\n')
  for (const [outcome, answer] of [
    [null, { code: 0, err: 'Delivered to tried.\n' }],
    [{ error: 'It refuses.' }, { code: 5, err: 'Delivery to tried failed: It refuses.\n' }],
  ] as const) {
    const result = muster('alert-route test tried')
    const claimed = await vi.waitUntil(() => claimAlertDelivery(t.runtime), 120_000)
    await finishAlertDelivery(fixture.worker, claimed, outcome)
    expect(await result).toMatchObject(answer)
  }
})

it('lists silences and ends them', async () => {
  expect((await muster('alert silence --reason rack_4 --kind stale --query tag_=_prod --cluster blue')).code).toBe(0)
  const [silence] = JSON.parse((await muster('alert silences -o json')).out)
  expect((await muster('alert silences')).out).toMatch(/STALE, tag = prod, cluster blue .* rack 4/)
  const { id } = (await t.runtime.db.query.alertSilences.findFirst())!
  expect(silence).toMatchObject({ reason: 'rack 4' })
  expect((await muster(`alert unsilence ${id}`)).err).toBe('Ended: rack 4.\n')
  expect(await muster(`alert unsilence ${id}`)).toMatchObject({ code: 5, err: expect.stringContaining('The silence ended on') })
  expect((await muster('alert silences')).err).toBe('No silences.\n')
})
