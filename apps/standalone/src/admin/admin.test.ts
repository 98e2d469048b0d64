import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from '../root.ts'
import { commands } from './commands.ts'

let dataDir: string
beforeEach(() => {
  dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-admin-'))
})
afterEach(() => fs.rmSync(dataDir, { recursive: true, force: true }))

function admin(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { DATABASE_URL: _, ...inherited } = process.env
  const env = { ...inherited, MUSTER_DATA_DIR: dataDir }
  return new Promise((resolve) =>
    execFile(path.join(root, 'bin/muster-admin'), args, { env, cwd: dataDir }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
}

test('lists its commands, from any folder', async () => {
  const { code, out } = await admin()
  expect(code).toBe(0)
  for (const name of Object.keys(commands)) expect(out).toContain(`  ${name} `)
})

test('rejects unknown commands and wrong arguments, and prints the usage', async () => {
  expect(await admin('constructor')).toMatchObject({ code: 2, err: expect.stringContaining('Usage: bin/muster-admin COMMAND') })
  expect(await admin('change-master-password')).toMatchObject({
    code: 2,
    err: 'Name one file with the new master password.\nUsage: bin/muster-admin change-master-password FILE\n',
  })
  expect(await admin('appoint')).toMatchObject({
    code: 2,
    err: 'Name one email address.\nUsage: bin/muster-admin appoint EMAIL\n',
  })
  expect(await admin('change-email', 'ada@site.test')).toMatchObject({
    code: 2,
    err: 'Name the current and the new email address.\nUsage: bin/muster-admin change-email EMAIL NEW_EMAIL\n',
  })
  expect(await admin('reset-owner', 'ada@site.test', 'eve@site.test')).toMatchObject({
    code: 2,
    err: 'Name at most one email address.\nUsage: bin/muster-admin reset-owner [EMAIL]\n',
  })
})

test('names a data directory without an installation, and creates nothing in it', async () => {
  const { code, err } = await admin('change-master-password', '/dev/null')
  expect(code).toBe(1)
  expect(err).toContain(`${dataDir} contains no Muster installation. Set MUSTER_DATA_DIR`)
  expect(fs.readdirSync(dataDir)).toEqual([])
})
