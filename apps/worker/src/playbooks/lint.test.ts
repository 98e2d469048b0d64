import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const lint = process.env.MUSTER_ANSIBLE_LINT
const playbooks = path.resolve(import.meta.dirname, '../../../../playbooks')

test.skipIf(!lint)('playbooks and roles pass the production profile of ansible-lint', { timeout: 300_000 }, async () => {
  const home = mkdtempSync('/tmp/muster-lint-')
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const run = promisify(execFile)(lint!, ['--offline', '--nocolor', '--strict'], {
    cwd: playbooks,
    env: {
      PATH: `${path.dirname(lint!)}:${process.env.PATH}`,
      HOME: home,
      LANG: 'C.UTF-8',
      ANSIBLE_LIBRARY: path.join(playbooks, 'modules'),
    },
  })
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error)
  expect(stdout + stderr).toMatch(/Passed: 0 failure\(s\), 0 warning\(s\)/)
  expect(stderr).toContain("'production'")
})
