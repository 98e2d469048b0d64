import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localStore } from '@muster/core/artifacts'
import { afterAll, expect, test } from 'vitest'
import { testApi } from '../testing/api.ts'
import { type HttpServer, serveHttp } from './server.ts'

const closers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

test('is ready when database and artifact store are; else says which is not, and what to do', async () => {
  const taken = join(tmpdir(), `muster-taken-${process.pid}`)
  await writeFile(taken, '')
  const t = await testApi({ store: localStore(join(taken, 'artifacts')) })
  const server: HttpServer = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  closers.push(() => rm(taken, { recursive: true, force: true }), t.close, server.stop)
  const ready = async () => {
    const answer = await fetch(`http://127.0.0.1:${server.port}/readyz`)
    return [answer.status, await answer.text()]
  }
  expect(await ready()).toEqual([
    503,
    expect.stringMatching(
      /artifacts, cannot be written \(ENOTDIR\): make it writable, or set ARTIFACT_DIR or NODE_ARTIFACTS_BUCKET/,
    ),
  ])
  await rm(taken)
  expect(await ready()).toEqual([200, 'ok'])
})
