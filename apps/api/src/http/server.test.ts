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

test('/readyz names the unavailable dependency and the next step', async () => {
  const file = join(tmpdir(), `muster-file-${process.pid}`)
  await writeFile(file, '')
  const t = await testApi({ store: localStore(join(file, 'artifacts')) })
  const server: HttpServer = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  closers.push(() => rm(file, { recursive: true, force: true }), t.close, server.stop)
  const ready = async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/readyz`)
    return [response.status, await response.text()]
  }
  expect(await ready()).toEqual([
    503,
    expect.stringMatching(
      /artifacts, cannot be written \(ENOTDIR\): make it writable, or set ARTIFACT_DIR or NODE_ARTIFACTS_BUCKET/,
    ),
  ])
  await rm(file)
  expect(await ready()).toEqual([200, 'ok'])
})
