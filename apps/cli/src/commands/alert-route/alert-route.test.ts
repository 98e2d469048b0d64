import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { claimAlertDelivery, finishAlertDelivery } from '../../../../../packages/core/src/alerts/index.ts'
import { openRouteSecrets } from '../../../../../packages/core/src/credentials/access.ts'
import { type Cast, eventually } from '../../../../../packages/core/src/testing/index.ts'
import { type HttpServer, serveHttp } from '../../../../api/src/http.ts'
import { testApi } from '../../../../api/src/testing/api.ts'
import { main } from '../../main.ts'

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let cast: Cast
beforeAll(async () => {
  t = await testApi()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  cast = await t.given.tenant()
  vi.stubEnv('MUSTER_URL', `http://127.0.0.1:${server.port}`)
  vi.stubEnv('MUSTER_TOKEN', await t.tokenOf(cast.admin))
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await server?.stop()
  await t?.close()
})

/** What the command line says, and how it ends. Arguments are parted at blanks; _ is a blank within one. */
async function muster(line: string, stdin = ''): Promise<{ code: number; out: string; err: string }> {
  const said = { out: [] as unknown[], err: [] as unknown[] }
  const input = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([Buffer.from(stdin)]) as typeof process.stdin)
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.out.push(text) > 0)
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.err.push(text) > 0)
  try {
    const code = await main(line.split(' ').map((word) => word.replaceAll('_', ' ')))
    return { code, out: said.out.join(''), err: said.err.join('') }
  } finally {
    for (const each of [input, out, err]) each.mockRestore()
  }
}
const routeNamed = async (name: string) =>
  (await t.runtime.db.query.alertRoutes.findFirst({ where: { tenantId: cast.tenant.id, name } }))!

it('makes routes whose secrets come by standard input, changes them and forgets them', async () => {
  expect((await muster('alert-route list')).err).toContain('Alerts reach nobody')
  const duty = await muster(
    'alert-route add duty webhook --severity critical --stdin',
    'https://hooks.test/hidden\na long secret\n',
  )
  expect(duty).toMatchObject({ code: 0, err: expect.stringContaining('Made duty.') })
  const secrets = await openRouteSecrets(cast.worker, await routeNamed('duty'))
  expect(secrets).toEqual({ url: 'https://hooks.test/hidden', secret: 'a long secret' })
  const mail =
    'alert-route add mail email --host mail.test -u me --from a@b.test --to c@d.test --to e@f.test --query tag_=_prod --stdin'
  expect((await muster(mail, 'a password\n')).code).toBe(0)
  expect(await openRouteSecrets(cast.worker, await routeNamed('mail'))).toEqual({ secret: 'a password' })
  expect((await muster('alert-route add chat dingtalk --stdin', 'https://ding.test/?access_token=hidden\n')).code).toBe(0)
  const listed = (await muster('alert-route list')).out
  expect(listed).toMatch(/^duty +WEBHOOK +https:\/\/hooks\.test +on +CRITICAL/m)
  expect(listed).toMatch(/^mail +EMAIL +c@d\.test, e@f\.test by mail\.test +on +tag = prod/m)
  expect(listed).not.toContain('hidden')
  expect((await muster('alert-route update mail --off --no-resolved')).code).toBe(0)
  expect(await routeNamed('mail')).toMatchObject({ isEnabled: false, tellsResolved: false, matcher: { query: 'tag = prod' } })
  expect((await muster('alert-route update duty --stdin', 'https://hooks.test/other\nanother secret\n')).code).toBe(0)
  expect((await openRouteSecrets(cast.worker, await routeNamed('duty'))).url).toBe('https://hooks.test/other')
  expect((await muster('alert-route delete mail')).err).toBe('Forgot mail.\n')
  expect(await muster('alert-route delete mail')).toMatchObject({
    code: 4,
    err: expect.stringContaining('No route is called mail'),
  })
  expect(await muster('alert-route add x webhook --stdin', 'https://hooks.test/\n')).toMatchObject({
    code: 5,
    err: 'secret: must be given for webhook\n',
  })
})

it('waits how a test went', async () => {
  await muster('alert-route add tried slack --stdin', 'https://hooks.test/\n')
  for (const [outcome, answer] of [
    [null, { code: 0, err: 'tried took it.\n' }],
    [{ error: 'It refuses.' }, { code: 5, err: 'tried did not take it: It refuses.\n' }],
  ] as const) {
    const asked = muster('alert-route test tried')
    const claimed = await eventually(async () => (await claimAlertDelivery(t.runtime)) ?? undefined, 50_000)
    await finishAlertDelivery(cast.worker, claimed!, outcome)
    expect(await asked).toMatchObject(answer)
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
  expect((await muster('alert silences')).err).toBe('Nothing is silenced.\n')
})
