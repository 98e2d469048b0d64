import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { compile, hostTarget, VERSION } from '../packaging/compile.ts'
import { pack } from '../packaging/pack.ts'
import { createTempDir } from './temp-files.ts'

const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
const hash = (file: string) => createHash('sha256').update(fs.readFileSync(file)).digest('hex')

// A stub of a few bytes replaces the binary of about 100 MB.
describe('packages', () => {
  const stub = path.join(createTempDir(), 'stub')
  const packages = { first: [] as string[], second: [] as string[] }
  beforeAll(() => {
    fs.writeFileSync(stub, '#!/bin/sh\necho stub\n')
    packages.first = pack(stub, 'linux-x64', createTempDir(), { epoch: 1_700_000_000, level: 1 })
    // Built again later from a file with another mtime.
    fs.utimesSync(stub, 1, 1)
    packages.second = pack(stub, 'linux-x64', createTempDir(), { epoch: 1_700_000_000, level: 1 })
  })
  const FILES = ['/etc/muster/agent.yaml', '/lib/systemd/system/muster-agent.service', '/usr/bin/muster-agent']

  test('are reproducible', () => {
    expect(packages.first).toHaveLength(3)
    expect(packages.second.map(hash)).toEqual(packages.first.map(hash))
    expect(packages.second.map((file) => path.basename(file))).toEqual([
      `muster-agent-${VERSION}-linux-x64.tar.gz`,
      `muster-agent_${VERSION}_amd64.deb`,
      `muster-agent-${VERSION}-1.x86_64.rpm`,
    ])
  })

  test('tar.gz', () => {
    const listed = run('tar', '-tvzf', packages.first[0]!)
    for (const file of FILES) expect(listed).toMatch(new RegExp(`root/root|0/0.* \\.${file}\\n`))
    expect(listed).toMatch(/-rwxr-xr-x 0\/0 .* \.\/usr\/bin\/muster-agent\n/)
  })

  test('deb', () => {
    const deb = packages.first[1]!
    expect(run('dpkg-deb', '--field', deb, 'Package', 'Version', 'Architecture')).toBe(
      `Package: muster-agent\nVersion: ${VERSION}\nArchitecture: amd64\n`,
    )
    const listed = run('dpkg-deb', '--contents', deb)
    for (const file of FILES) expect(listed).toContain(` .${file}\n`)
    expect(listed).toMatch(/-rwxr-xr-x root\/root .* \.\/usr\/bin\/muster-agent\n/)
    expect(run('dpkg-deb', '--info', deb, 'conffiles')).toBe('/etc/muster/agent.yaml\n')
    for (const script of ['postinst', 'prerm']) expect(run('dpkg-deb', '--info', deb, script)).toContain('systemctl')
  })

  test('rpm', () => {
    const rpm = packages.first[2]!
    const query = (format: string) => run('rpm', '-qp', '--queryformat', format, rpm)
    expect(query('%{NAME} %{VERSION} %{ARCH} %{LICENSE}')).toBe(`muster-agent ${VERSION} x86_64 Apache-2.0`)
    const files = query('[%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME} %{FILEFLAGS:fflags}\n]')
    for (const file of FILES) expect(files).toContain(file)
    expect(files).toContain('/usr/bin/muster-agent -rwxr-xr-x root')
    expect(files).toMatch(/agent\.yaml -rw-r--r-- root .*c/)
    expect(run('rpm', '-qp', '--scripts', rpm)).toContain('systemctl disable --now muster-agent')
  })

  test.skipIf(run('sh', '-c', 'command -v systemd-analyze || true') === '')('the unit passes systemd-analyze verify', () => {
    const unit = path.join(createTempDir(), 'muster-agent.service')
    const text = fs.readFileSync(
      path.join(import.meta.dirname, '../../../playbooks/roles/muster_agent/files/muster-agent.service'),
      'utf8',
    )
    fs.writeFileSync(unit, text.replace('/usr/bin/muster-agent', '/bin/true'))
    const findings = execFileSync('sh', ['-c', `systemd-analyze verify ${unit} 2>&1 || true`], { encoding: 'utf8' })
    expect(findings).not.toMatch(/muster-agent\.service/)
  })
})

describe.skipIf(!hostTarget)('the binary', () => {
  const workDir = createTempDir()
  const binary = path.join(workDir, 'muster-agent')
  beforeAll(() => compile(hostTarget!, binary))

  test('ignores .env and bunfig.toml in the working directory', () => {
    fs.writeFileSync(path.join(workDir, '.env'), 'MUSTER_AGENT_LOG_LEVEL=loud\n')
    fs.writeFileSync(path.join(workDir, 'bunfig.toml'), 'preload = ["./none.ts"]\n')
    expect(execFileSync(binary, ['version'], { cwd: workDir, encoding: 'utf8', env: {} })).toBe(`muster-agent ${VERSION}\n`)
  })

  test('creates a key and reports missing settings', () => {
    const key = path.join(workDir, 'agent.key')
    const settings = ['--config', '/dev/null', '--key-file', key]
    expect(run(binary, 'init', ...settings)).toMatch(/^[A-Za-z0-9+/]{43}=\n$/)
    expect(fs.statSync(key).mode & 0o777).toBe(0o600)
    expect(() => run(binary, 'start', ...settings)).toThrow('node-id is not set')
    expect(() => run(binary, 'status', '--config', '/dev/null', '--status-socket', path.join(workDir, 'none'))).toThrow(
      'no agent responds',
    )
  })

  test('is reproducible', () => {
    // The file name is part of the binary.
    const again = path.join(createTempDir(), 'muster-agent')
    compile(hostTarget!, again)
    expect(hash(again)).toBe(hash(binary))
  })
})
