import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { nodeEnvironment, TEST_MASTER_PASSWORD } from '@muster/core/testing'

const API = fileURLToPath(new URL('../../../api/src/main.ts', import.meta.url))
const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

/** A worker process. `output` accumulates what it prints; `ended` resolves with its exit code. */
export type WorkerProcess = { child: ChildProcess; readonly output: string; ended: Promise<number | null> }

/** @param env environment in addition to PATH, a master password (over a descriptor), a free port and no isolation */
export const spawnWorker = (env: Record<string, string>): WorkerProcess =>
  spawnProgram(MAIN, { WORKER_PORT: '0', ANSIBLE_ISOLATION: 'none', ...env })

/** An API process. @param env environment in addition to PATH and a master password */
export const spawnApi = (env: Record<string, string>): WorkerProcess => spawnProgram(API, env)

function spawnProgram(file: string, env: Record<string, string>): WorkerProcess {
  const child = spawn(process.execPath, [file], {
    env: { ...nodeEnvironment, CREDENTIAL_MASTER_PASSWORD_FD: '3', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const password = child.stdio[3] as Writable
  password.on('error', () => {}).end(TEST_MASTER_PASSWORD)
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  return {
    child,
    get output() {
      return output
    },
    ended: new Promise((resolve) => child.on('close', (code) => resolve(code))),
  }
}

/** Creates an executable that reports this version of ansible-core. */
export async function createFakeAnsible(version: string, path: string): Promise<string> {
  await writeFile(path, `#!/bin/sh\necho 'ansible-playbook [core ${version}]'\n`)
  await chmod(path, 0o755)
  return path
}
