import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { loadConfig } from '../kernel/config.ts'
import { openArtifactStore } from './open-artifact-store.ts'
import { artifactStoreSettings } from './settings.ts'
import { isValidLink, signLink } from './signed-link.ts'
import type { ArtifactStore } from './store.ts'

const KEY = '018f0000-0000-7000-8000-000000000001/018f0000-0000-7000-8000-000000000002/018f0000-0000-7000-8000-000000000003'
const { MOTO, TEST_PYTHON } = process.env

let folder: string
let file: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-artifacts-'))
  file = join(folder, 'file')
  await writeFile(file, 'all is well')
})
afterAll(() => rm(folder, { recursive: true }))

const storeOf = (settings: Record<string, string>) => openArtifactStore(loadConfig(settings, artifactStoreSettings))

async function keepsAndForgets(store: ArtifactStore) {
  expect(await store.notReadyReason()).toBeNull()
  await store.put(KEY, file, 11)
  await store.put(KEY, file, 11)
  expect(await text(await store.open(KEY))).toBe('all is well')
  await store.remove([KEY, KEY.replace(/3$/, '4')])
  await expect(store.open(KEY)).rejects.toThrow()
  await store.remove([KEY])
}

describe('local directory', () => {
  test('stores and removes files, including empty directories', async () => {
    const root = join(folder, 'kept')
    await keepsAndForgets(storeOf({ ARTIFACT_DIR: root }))
    expect((await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())).toEqual([])
  })

  test('explains why it is not ready, with the next step', async () => {
    await writeFile(join(folder, 'taken'), '')
    const store = storeOf({ ARTIFACT_DIR: join(folder, 'taken/deep') })
    expect(await store.notReadyReason()).toMatch(/taken\/deep \(ENOTDIR\).*ARTIFACT_DIR or NODE_ARTIFACTS_BUCKET/)
    await expect(store.put(KEY, file, 11)).rejects.toThrow('cannot be written (ENOTDIR)')
  })

  test('rejects keys outside the directory', async () => {
    const store = storeOf({ ARTIFACT_DIR: join(folder, 'kept') })
    for (const key of ['../file', '/etc/passwd', 'a/../../file', 'a//b', ''])
      await expect(store.open(key)).rejects.toThrow('not the key of an artifact')
  })
})

test('a signed link is valid for one file until it expires, and cannot be altered', () => {
  const until = Date.now() + 60_000
  const signature = signLink('secret', 'a', until)
  expect(isValidLink('secret', 'a', until, signature)).toBe(true)
  expect(isValidLink('secret', 'b', until, signature)).toBe(false)
  expect(isValidLink('secret', 'a', until + 1, signature)).toBe(false)
  expect(isValidLink('another', 'a', until, signature)).toBe(false)
  expect(isValidLink('secret', 'a', Number.NaN, signLink('secret', 'a', Number.NaN))).toBe(false)
  expect(isValidLink('secret', 'a', 1, signLink('secret', 'a', 1))).toBe(false)
})

describe.runIf(MOTO && TEST_PYTHON)('S3 server', () => {
  let server: ChildProcess
  let endpoint: string
  const s3 = (more: Record<string, string> = {}) =>
    storeOf({
      ...{ NODE_ARTIFACTS_BUCKET: 'muster', S3_ENDPOINT: endpoint, S3_PATH_STYLE: '1', S3_PREFIX: 'runs/' },
      ...{ S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret', ...more },
    })

  beforeAll(async () => {
    const port = await freePort()
    endpoint = `http://127.0.0.1:${port}`
    const env = { PATH: process.env.PATH, PYTHONPATH: MOTO, HOME: folder }
    server = spawn(TEST_PYTHON!, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], { env, stdio: 'ignore' })
    await vi.waitFor(async () => expect((await fetch(endpoint)).ok).toBe(true), 120_000)
    expect((await fetch(`${endpoint}/muster`, { method: 'PUT' })).ok).toBe(true)
  })
  afterAll(() => void server?.kill())

  test('stores and removes files below the prefix', async () => {
    await s3().put(KEY, file, 11)
    expect(await (await fetch(`${endpoint}/muster`)).text()).toContain(`<Key>runs/${KEY}</Key>`)
    await keepsAndForgets(s3())
    expect(await (await fetch(`${endpoint}/muster`)).text()).not.toContain('<Key>')
  })

  test('serves a file under its own name through a signed link', async () => {
    await s3().put(KEY, file, 11)
    const link = await s3().link(KEY, { fileName: 'Bericht "ä".txt', seconds: 60 })
    expect(new URL(link!).searchParams.get('X-Amz-Expires')).toBe('60')
    const response = await fetch(link!)
    expect(await response.text()).toBe('all is well')
    expect(response.headers.get('content-disposition')).toContain("filename*=UTF-8''Bericht%20%22%C3%A4%22.txt")
  })

  test('names an unavailable server or missing bucket with the reason', async () => {
    expect(await s3({ NODE_ARTIFACTS_BUCKET: 'another' }).notReadyReason()).toMatch(
      /^The bucket another at http.* cannot be used \(.+\)\. Check .*NODE_ARTIFACTS_BUCKET, S3_ENDPOINT/,
    )
    const away = s3({ S3_ENDPOINT: `http://127.0.0.1:${await freePort()}` })
    await expect(away.put(KEY, file, 11)).rejects.toThrow(/bucket muster at .* cannot be used \(ECONNREFUSED\)/)
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
