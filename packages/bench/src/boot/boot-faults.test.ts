import { pickPort } from '@muster/standalone'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, connect } from '../client.ts'
import { APPLY_MANIFESTS, BOOT_OF_NODE } from '../documents.ts'
import { signIn } from '../onboard.ts'
import { type Product, startProduct } from '../product.ts'

const NODES = 20
/** The machine waits this long where iPXE and cloud-init wait for seconds. */
const PAUSE_MS = 20
const macOf = (i: number) => `02:00:5e:79:00:${i.toString(16).padStart(2, '0')}`
const profileOf = (i: number) => `profile-${i % 2}`

let product: Product
let api: Client
let base: string
beforeAll(async () => {
  const port = String(await pickPort())
  base = `http://127.0.0.1:${port}`
  product = await startProduct({ BOOT_PORT: port, BOOT_TOKENS_WITHOUT_TLS: '1' }, { synchronous_commit: 'on' })
  let token: string | null = null
  api = connect(product.url, () => token)
  token = await signIn(api, product.linkToken)
  await apply([
    ...[0, 1].map((i) => profile(i, 1)),
    ...Array.from({ length: NODES }, (_, i) =>
      document('ComputeNode', `n${i}`, { host: `10.9.0.${i}`, interfaces: [{ name: 'eth0', mac: macOf(i), isBoot: true }] }),
    ),
  ])
})
afterAll(() => product?.stop())

const document = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: 'muster/v1', kind, metadata: { name }, spec })
const profile = (i: number, version: number) =>
  document('BootProfile', profileOf(i), {
    kernel: { url: `http://files.test/${profileOf(i)}/v${version}/vmlinuz` },
    userData: `#cloud-config\nfinal_message: ${profileOf(i)} v${version}\n`,
    assignments: [{ nodes: `n[${Array.from({ length: NODES / 2 }, (_, n) => 2 * n + i).join(',')}]` }],
  })
async function apply(documents: string[]): Promise<void> {
  const { plan } = await api.mutate(APPLY_MANIFESTS, { input: { files: [{ name: 'x.yaml', text: documents.join('\n---\n') }] } })
  expect(plan).toMatchObject({ isApplied: true, issues: [] })
}

type Boot = { kernel: string; userData: string; reported: number | null; failures: number }

/** A simulated machine: it runs boot scripts as iPXE does, and fetches NoCloud data and reports as cloud-init does. Both try again. */
async function boot(i: number, hooks: { onFailure?: () => void; onScript?: () => Promise<void> } = {}): Promise<Boot> {
  let failures = 0
  const request = async (url: string, init?: RequestInit): Promise<{ status: number; text: string }> => {
    for (;;) {
      const answer = await fetch(url, init).then(
        async (response) => ({ status: response.status, text: await response.text() }),
        () => null,
      )
      if (answer && answer.status < 500) return answer
      failures++
      hooks.onFailure?.()
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  let url = `${base}/boot/v1/bootscript?mac=${macOf(i)}&arch=x86_64`
  for (;;) {
    const { text } = await request(url)
    const [, kernel] = /^kernel --name kernel (\S+)/m.exec(text) ?? []
    if (!kernel) {
      url = /^chain (\S+)$/m.exec(text)![1]!
      hooks.onFailure?.()
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      continue
    }
    await hooks.onScript?.()
    const seed = /ds=nocloud-net;s=(\S+)/.exec(text)![1]!
    await request(`${seed}meta-data`)
    const { text: userData } = await request(`${seed}user-data`)
    const [report] = /http\S+\/phone-home\/\S+/.exec(userData) ?? []
    const reported = report
      ? (await request(report, { method: 'POST', body: new URLSearchParams({ hostname: `n${i}` }) })).status
      : null
    return { kernel, userData, reported, failures }
  }
}

const bootsOf = async (name: string) =>
  (await api.request(BOOT_OF_NODE, { name })).nodes.edges[0]!.node.bootAttempts.edges.map(({ node }) => node)

test('all nodes that boot while the control plane is down come up later, each with its own profile', async () => {
  const waiting = new Set<number>()
  const isDown = Promise.withResolvers<void>()
  const scripts: Promise<unknown>[] = []
  // Half of the machines have their boot script when everything stops, and fetch the rest afterwards.
  const boots = Array.from({ length: NODES }, (_, i) => {
    const hasScript = Promise.withResolvers<void>()
    const before = i < NODES / 2
    if (before) scripts.push(hasScript.promise)
    const start = before ? Promise.resolve() : isDown.promise
    return start.then(() =>
      boot(i, {
        onFailure: () => waiting.add(i),
        onScript: async () => {
          hasScript.resolve()
          if (before) await isDown.promise
        },
      }),
    )
  })
  await Promise.all(scripts)
  await product.kill('api')
  await product.crashPostgres()
  isDown.resolve()
  await expect.poll(() => waiting.size).toBe(NODES)
  await product.start('api')
  for (const [i, { kernel, userData, reported, failures }] of (await Promise.all(boots)).entries()) {
    expect(kernel).toBe(`http://files.test/${profileOf(i)}/v1/vmlinuz`)
    expect(userData).toContain(`final_message: ${profileOf(i)} v1\n`)
    expect(failures).toBeGreaterThan(0)
    expect(reported).toBe(200)
  }
  for (let i = 0; i < NODES; i++) {
    const [attempt, ...others] = await bootsOf(`n${i}`)
    expect(others).toEqual([])
    expect(attempt!.timeline.map(({ stage }) => stage)).toEqual(['BOOT_SCRIPT', 'CLOUD_INIT', 'PHONE_HOME'])
    expect(new Set(attempt!.fetches.map((fetch) => fetch.profile).filter(Boolean))).toEqual(new Set([profileOf(i)]))
  }
})
test('a profile that changes during a boot: the log shows the version of each file, and the next boot has one version', async () => {
  const during = await boot(0, { onScript: () => apply([profile(0, 2)]) })
  expect(during.kernel).toContain('/v1/')
  expect(during.userData).toContain('v2')
  const [attempt] = await bootsOf('n0')
  expect(attempt).toMatchObject({ profile: 'profile-0', profileVersion: 1 })
  const versions = (fetches: { kind: string; profileVersion: number | null }[]) =>
    fetches.flatMap(({ kind, profileVersion }) => (profileVersion === null ? [] : [`${kind} v${profileVersion}`])).sort()
  expect(versions(attempt!.fetches)).toEqual(['BOOT_SCRIPT v1', 'META_DATA v2', 'USER_DATA v2'])
  const next = await boot(0)
  expect([next.kernel, next.reported]).toEqual(['http://files.test/profile-0/v2/vmlinuz', 200])
  expect(versions((await bootsOf('n0'))[0]!.fetches)).toEqual(['BOOT_SCRIPT v2', 'META_DATA v2', 'USER_DATA v2'])
  // The other profile is as before.
  expect((await boot(1)).kernel).toContain('profile-1/v1')
})
