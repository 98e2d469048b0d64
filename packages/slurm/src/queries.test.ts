import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isComplete, outputAfter, queryArguments, queryScript } from './queries.ts'

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

  test.each(['sh', 'bash'])('unsets all variables of the account that filter or change commands (%s)', (shell) => {
    const input = queryScript(['env'], nonce, null)
    const env = {
      PATH: '/usr/bin:/bin',
      SLURM_CONF: '/etc/slurm/slurm.conf',
      TEXT: "two\nlines 'SQUEUE_FAKE;id=1 * SCONTROL_$(id)=2",
      ...{ SQUEUE_QOS: 'high', SQUEUE_ARRAY: '', SCANCEL_STATE: 'PENDING', SCANCEL_INTERACTIVE: 'a b' },
      ...{ SINFO_FUTURE: '1', SACCT_FORMAT: 'x', SCONTROL_ALL: '1', SLURM_CLUSTERS: 'other', SLURM_JSON: '1' },
      SQUEUE_USERS: 'one\ntwo=3',
    }
    const output = outputAfter(nonce, execFileSync(shell, ['-s'], { input, env, encoding: 'utf8' }))!
    expect(output).toContain('SLURM_CONF=/etc/slurm/slurm.conf\n')
    expect(output).toContain(`TEXT=${env.TEXT}\n`)
    expect(output.match(/^(?:SQUEUE|SCANCEL|SINFO|SACCT|SCONTROL)_\w+|^SLURM_(?!CONF|TIME|BITSTR)\w+/gm)).toBeNull()
  })

  test.each([
    [{}, ':/etc/localtime'],
    [{ TZ: 'Asia/Tokyo' }, 'Asia/Tokyo'],
    [{ TZ: '' }, ''],
  ])('keeps the time zone of the account (%j)', (env, zone) => {
    const input = queryScript(['env'], nonce, null)
    const output = outputAfter(
      nonce,
      execFileSync('sh', ['-s'], { input, env: { PATH: '/usr/bin:/bin', ...env }, encoding: 'utf8' }),
    )!
    expect(/^TZ=(.*)$/m.exec(output)?.[1]).toBe(zone)
  })

  test.each(['sh', 'bash'])('marks the end of the output and passes the exit code on (%s)', (shell) => {
    const input = queryScript(['sh', '-c', 'printf "no newline"; exit 3'], nonce, null)
    const { stdout, status } = spawnSync(shell, ['-s'], { input, encoding: 'utf8' })
    expect({ status, output: outputAfter(nonce, stdout) }).toEqual({ status: 3, output: 'no newline' })
    expect(isComplete(nonce, stdout)).toBe(true)
    for (let length = 0; length < stdout.length; length++) expect(isComplete(nonce, stdout.slice(0, length))).toBe(false)
    expect(outputAfter(nonce, stdout.slice(0, nonce.length + 5))).toBe('no n')
  })

  test('has no output when the shell stops before the command', () => {
    expect(outputAfter(nonce, 'This account is not available.\n')).toBeNull()
  })
})
