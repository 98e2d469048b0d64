import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll } from 'vitest'

const folders: string[] = []
// Registered at module level: vitest ignores hooks that a running test registers.
afterAll(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true })
})

/** Creates a folder that is deleted after the tests of this file. */
export function createTempDir(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-agent-'))
  folders.push(folder)
  return folder
}

/** Writes files below a root, such as /proc/stat of a fake machine. */
export function writeFiles(root: string, files: Record<string, string>): string {
  for (const [file, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(root + file), { recursive: true })
    fs.writeFileSync(root + file, content)
  }
  return root
}

/**
 * A root for `--host-root` with the files of this machine, but without its default gateway: measuring the latency of a gateway that
 * drops packets takes three seconds.
 */
export function createHostRoot(): string {
  const root = createTempDir()
  const link = (name: string) => fs.symlinkSync(path.join('/', name), path.join(root, name))
  for (const name of ['dev', 'etc', 'sys']) link(name)
  fs.mkdirSync(path.join(root, 'proc'))
  for (const name of fs.readdirSync('/proc')) if (name !== 'net' && !/^\d+$/.test(name)) link(path.join('proc', name))
  return root
}
