import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { nodeEnvironment } from '../../../packages/core/src/testing/index.ts'
import manifest from '../package.json' with { type: 'json' }

const WRAPPER = fileURLToPath(new URL('../../../bin/muster', import.meta.url))

it('becomes the CLI process instead of starting a second Node, also through a symbolic link', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-wrapper-'))
  const env = { ...nodeEnvironment, HOME: folder }
  try {
    const link = join(folder, 'muster')
    symlinkSync(WRAPPER, link)
    // The first call may have to run the setup.
    expect(execFileSync(link, ['--version'], { env, encoding: 'utf8' })).toBe(`${manifest.version}\n`)
    const child = spawn(link, ['api', '-'], { env, stdio: ['pipe', 'ignore', 'ignore'] })
    try {
      const command = () => execFileSync('ps', ['-o', 'args=', '-p', String(child.pid)], { encoding: 'utf8' })
      await expect.poll(command).toContain('apps/cli/src/main.ts api -')
      expect(command()).not.toContain('setup')
    } finally {
      child.kill()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
