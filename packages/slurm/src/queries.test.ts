import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outputAfter, queryArguments, queryScript } from './queries.ts'

const nonce = 'a25c1f00b1946ac6aa3ee3a1e2f0d4b7'

test.each([
  ['20.11.9', ['scontrol', '--all', '--detail', 'show', 'nodes', '--oneliner']],
  ['22.05.8', ['sinfo', '--all', '--json']],
  ['23.02.7', ['scontrol', '--all', 'show', 'nodes', '--json']],
  ['23.11.11', ['scontrol', '--all', 'show', 'nodes', '--json=v0.0.40']],
  ['25.11.8-0pre1', ['scontrol', '--all', 'show', 'nodes', '--json=v0.0.44']],
  ['26.05.4', ['scontrol', '--all', 'show', 'nodes', '--json=v0.0.45']],
  [null, ['scontrol', '--all', '--detail', 'show', 'nodes', '--oneliner']],
])('asks Slurm %s for nodes in a form that it prints', (version, argv) => {
  expect(queryArguments('nodes', version, nonce)).toEqual(argv)
})

describe('script of a query', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "slurm's bin "))
    writeFileSync(
      path.join(folder, 'squeue'),
      '#!/bin/sh\ncat\nprintf "%s\\n" "$SQUEUE_FORMAT|$SLURM_CLUSTERS|$LC_ALL|$SLURM_TIME_FORMAT" "$@"\n',
    )
    chmodSync(path.join(folder, 'squeue'), 0o755)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each(['sh', 'bash'])('runs the command with fixed variables and no input, after a banner (%s)', (shell) => {
    const argv = queryArguments('jobs', '22.05.8', nonce)
    const input = `echo 'Welcome to the cluster'\n${queryScript(argv, nonce, folder)}`
    const env = { PATH: '/usr/bin:/bin', SQUEUE_FORMAT: '%all', SLURM_CLUSTERS: 'other', LC_ALL: 'de_DE.UTF-8' }
    const output = execFileSync(shell, ['-s'], { input, env, encoding: 'utf8' })
    expect(output).toMatch(/^Welcome/)
    expect(outputAfter(nonce, output)!.split('\n')).toEqual(['||C|%s', ...argv.slice(1), ''])
  })

  test('has no output when the shell stops before the command', () => {
    expect(outputAfter(nonce, 'This account is not available.\n')).toBeNull()
  })
})
