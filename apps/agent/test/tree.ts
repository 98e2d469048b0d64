import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll } from 'vitest'

const folders: string[] = []
// Here and not below: what a test that is running registers for afterwards is not done.
afterAll(() => {
  for (const made of folders.splice(0)) fs.rmSync(made, { recursive: true, force: true })
})

/** A folder that is gone after the tests of this file. */
export function folder(): string {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-agent-'))
  folders.push(made)
  return made
}

/** Files below a root, such as /proc/stat of a machine that does not exist. */
export function plant(root: string, files: Record<string, string>): string {
  for (const [file, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(root + file), { recursive: true })
    fs.writeFileSync(root + file, content)
  }
  return root
}
