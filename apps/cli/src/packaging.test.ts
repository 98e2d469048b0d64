import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hostTarget } from '../../agent/packaging/compile.ts'
import { buildBinary, buildPackage } from '../packaging/build.ts'
import { startTestApi, type TestApi } from './testing/muster.ts'
import { VERSION } from './version.ts'

const run = promisify(execFile)
let t: TestApi
let folder: string
let env: NodeJS.ProcessEnv
beforeAll(async () => {
  t = await startTestApi()
  const { operator } = await t.given.tenant()
  await t.given.fleet(operator, { nodes: 2 })
  await t.signIn(operator)
  folder = mkdtempSync(join(tmpdir(), 'muster-package-'))
  env = { ...process.env, HOME: folder, NODE_OPTIONS: '' }
})
afterAll(async () => {
  await t?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The version, and the nodes of the API, as the program at `file` prints them. */
const results = async (file: string) =>
  Promise.all([['--version'], ['node', 'list', '-o', 'name']].map(async (args) => (await run(file, args, { env })).stdout))

it('packs an npm package that installs into an empty folder without a registry', async () => {
  const tarball = await buildPackage(join(folder, 'dist'))
  const target = join(folder, 'empty')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--prefix', target, tarball], { env })
  expect(existsSync(join(target, 'node_modules/commander'))).toBe(false)
  expect(await results(join(target, 'node_modules/.bin/muster'))).toEqual([`${VERSION}\n`, 'gpu001\ngpu002\n'])
})

it.runIf(hostTarget)('compiles a single executable', async () => {
  const file = buildBinary(join(folder, 'dist'), hostTarget!)
  expect(await results(file)).toEqual([`${VERSION}\n`, 'gpu001\ngpu002\n'])
  const completion = await run(file, ['completion', 'bash'], { env })
  expect(completion.stdout).toContain('complete -F __muster_complete muster')
})
