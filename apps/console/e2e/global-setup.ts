import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { FullConfig } from '@playwright/test'

const root = path.join(import.meta.dirname, '../../..')

/**
 * Bring up the whole product with a lab of its own, as `npm start -- --lab 8` does, unless CONSOLE_URL names one that runs already
 * (then SIGN_IN_LINK and MUSTER_DATA_DIR belong to it). Gives the tests CONSOLE_URL, SIGN_IN_LINK and MUSTER_DATA_DIR.
 */
export default async function globalSetup(config: FullConfig): Promise<undefined | (() => Promise<void>)> {
  if (process.env.CONSOLE_URL) return
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-e2e-'))
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  const env: NodeJS.ProcessEnv = { ...process.env, MUSTER_DATA_DIR: dataDir, PORT: String(port) }
  for (const name of ['DATABASE_URL', 'MUSTER_PUBLIC_URL', 'HOST']) delete env[name]
  const child = spawn(process.execPath, ['apps/standalone/src/main.ts', '--lab', '8'], {
    cwd: root,
    env,
    // The channel tells it when we are killed: it then ends by itself.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const said = await waitUntilUp(child).catch((error: unknown) => {
    fs.rmSync(dataDir, { recursive: true, force: true })
    throw error
  })
  // Workers get this process's environment; the page's address goes through the configuration, which is read by now.
  process.env.CONSOLE_URL = /^\s*Console\s+(\S+)/m.exec(said)?.[1]
  process.env.SIGN_IN_LINK = /^\s*Sign in\s+(\S+)/m.exec(said)?.[1]
  process.env.MUSTER_DATA_DIR = dataDir
  for (const project of config.projects) project.use.baseURL = process.env.CONSOLE_URL
  return async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
    fs.rmSync(dataDir, { recursive: true, force: true })
  }
}

/** All that the product said once it is up; rejects with it when it ends instead. */
function waitUntilUp(child: ChildProcess): Promise<string> {
  let said = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text
        if (/^\s*Stop\s+Ctrl-C/m.test(said)) resolve(said)
      })
    }
    child.once('exit', (code) => reject(new Error(`The product did not start (exit code ${code}):\n${said}`)))
  })
}
