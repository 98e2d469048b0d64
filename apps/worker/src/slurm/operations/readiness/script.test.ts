import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readinessScript } from './script.ts'

/** Runs the script on this machine, where the only munged is a process with these arguments. */
async function findsMunged(args: string[]): Promise<boolean> {
  const prefix = mkdtempSync(join(tmpdir(), 'readiness-'))
  const munged = spawn('sh', ['-c', 'echo; read _', 'munged', ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  try {
    await once(munged.stdout, 'data')
    mkdirSync(join(prefix, 'sbin'))
    const pidof = join(prefix, 'sbin/pidof')
    writeFileSync(pidof, `#!/bin/sh\n[ "$1" = munged ] && echo ${munged.pid}\n`)
    chmodSync(pidof, 0o755)
    const input = readinessScript({ controllers: [], files: [], prefix, usesNodeRepositories: false })
    const lines = execFileSync('sh', ['-s'], { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] }).split('\n')
    expect(lines).toContain('end')
    return lines.includes('running munged')
  } finally {
    munged.stdin.end()
    rmSync(prefix, { recursive: true })
  }
}

/** What the script prints where a fake dnf finds the package or not. */
function linesWithDnf(status: number, usesNodeRepositories: boolean): string[] {
  const prefix = mkdtempSync(join(tmpdir(), 'readiness-'))
  onTestFinished(() => rmSync(prefix, { recursive: true }))
  const dnf = join(prefix, 'dnf')
  writeFileSync(dnf, `#!/bin/sh\n[ "$*" = '--quiet list slurm-slurmd' ] && exit ${status}\nexit 64\n`)
  chmodSync(dnf, 0o755)
  const input = readinessScript({ controllers: [], files: [], prefix: null, usesNodeRepositories })
  const env = { ...process.env, PATH: `${prefix}:${process.env.PATH}` }
  return execFileSync('sh', ['-s'], { input, env, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] }).split('\n')
}

it('finds that no repository of a RHEL host has Slurm', () => {
  expect(linesWithDnf(1, true)).toContain('packages missing')
  expect(linesWithDnf(0, true)).not.toContain('packages missing')
  expect(linesWithDnf(1, false)).not.toContain('packages missing')
})

describe('a munged that runs', () => {
  it.each([
    [true, []],
    [true, ['--syslog']],
    [true, ['-S', '/run/munge/munge.socket.2']],
    [true, ['-S/var/run/munge/munge.socket.2', '-F']],
    [true, ['--socket', '/run/munge/munge.socket.2']],
    [true, ['--socket=/run/munge/munge.socket.2']],
    [false, ['-S', '/run/munge/dbd.socket']],
    [false, ['-F', '-S/run/munge/dbd.socket']],
    [false, ['--socket', '/run/munge/dbd.socket', '-F']],
    [false, ['--socket=/run/munge-dbd/munge.socket.2']],
  ])('uses the default socket: %s, with %j', async (usesDefault, args) => {
    expect(await findsMunged(args)).toBe(usesDefault)
  })
})
