import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { claimJobRun } from '@muster/core/run-queue'
import { appendJobRunEvents, finishJobRun, runJob } from '@muster/core/runs'
import { expect, onTestFinished, test } from 'vitest'
import { createReverseProxy } from '../../../standalone/src/reverse-proxy.ts'
import { globalId } from '../graphql/shared/ids.ts'
import { testApi } from '../testing/api.ts'
import { serveHttp } from './server.ts'

const exec = promisify(execFile)
const hasGo = await exec('go', ['version']).then(
  () => true,
  () => false,
)

test.skipIf(!hasGo)('a Go client of genqlient reads, changes and follows the log of a run', { timeout: 300_000 }, async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'muster-genqlient-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await cp(fileURLToPath(new URL('./genqlient', import.meta.url)), folder, { recursive: true })
  await cp(fileURLToPath(new URL('../../schema.graphql', import.meta.url)), path.join(folder, 'schema.graphql'))
  const t = await testApi()
  onTestFinished(() => t.close())
  const api = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  const proxy = createReverseProxy({ api: `http://127.0.0.1:${api.port}`, console: 'http://127.0.0.1:9' })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    proxy.closeAllConnections()
    proxy.close()
    await api.stop()
  })
  const tenant = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(tenant.admin, 'SSH_KEY')
  const [node] = await t.given.fleet(tenant.admin, { nodes: 1, with: { credentialId } })
  const run = await runJob(tenant.operator, { template: 'connectivity_check', limit: 'all' })
  const { token } = (await claimJobRun(tenant.worker, { id: run.id, workerId: 'w' }))!
  const events = Array.from({ length: 4 }, (_, i) => ({ kind: 'output', stdout: `line ${i}`, createdAt: new Date() }))
  await appendJobRunEvents(tenant.worker, { id: run.id, token, events })
  await finishJobRun(tenant.worker, { id: run.id, token, hosts: [], endCause: 'exit', exitCode: 0, artifacts: [] })

  const env = { ...process.env, GOFLAGS: '-mod=mod', MUSTER_TOKEN: await t.tokenOf(tenant.operator) }
  await exec('go', ['tool', 'genqlient'], { cwd: folder, env })
  const url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}/graphql`
  const { stdout } = await exec('go', ['run', '.', url, globalId('JobRun', run.id), 'from_go'], { cwd: folder, env })
  expect(stdout.trim().split('\n')).toEqual([
    `node ${node!.name}`,
    'group from_go',
    ...[1, 2, 3, 4, 5].map((seq) => `event ${seq}`),
  ])
})
