import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { TARGETS, type Target, VERSION } from './compile.ts'

const DESCRIPTION = 'Node agent of Muster'
const FILES = {
  '/etc/muster/agent.yaml': 'agent.yaml',
  // Shared with the role that deploys the agent.
  '/lib/systemd/system/muster-agent.service': '../../../playbooks/roles/muster_agent/files/muster-agent.service',
}

type Options = {
  /** Modification time of all files in Unix seconds, for reproducible packages. */
  epoch: number
  /** Compression level, 1 to 9. */
  level?: number
}

/** Builds the tar.gz, and a deb and an rpm for glibc targets. Returns the files. */
export function pack(binary: string, target: Target, out: string, { epoch, level = 9 }: Options): string[] {
  const { deb, rpm } = TARGETS[target]
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-agent-'))
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch), TZ: 'UTC' }
  try {
    const tree = path.join(work, 'tree')
    installFile(path.join(tree, '/usr/bin/muster-agent'), binary, 0o755)
    for (const [to, from] of Object.entries(FILES)) installFile(tree + to, path.join(import.meta.dirname, from), 0o644)
    const files = [buildTarball(tree, path.join(out, `muster-agent-${VERSION}-${target}.tar.gz`), epoch, level)]
    if (deb) files.push(buildDeb(tree, path.join(out, `muster-agent_${VERSION}_${deb}.deb`), deb, env, epoch, level))
    if (rpm) files.push(buildRpm(tree, work, out, rpm, env, level))
    return files
  } finally {
    fs.rmSync(work, { recursive: true })
  }
}

function installFile(to: string, from: string, mode: number): void {
  fs.mkdirSync(path.dirname(to), { recursive: true, mode: 0o755 })
  fs.copyFileSync(from, to)
  fs.chmodSync(to, mode)
}

function buildTarball(tree: string, file: string, epoch: number, level: number): string {
  const reproducible = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']
  const tar = execFileSync('tar', [...reproducible, '-C', tree, '-cf', '-', '.'], { maxBuffer: 1024 ** 3 })
  fs.writeFileSync(file, gzipSync(tar, { level }))
  return file
}

function buildDeb(
  tree: string,
  file: string,
  architecture: string,
  env: NodeJS.ProcessEnv,
  epoch: number,
  level: number,
): string {
  const control = path.join(tree, 'DEBIAN')
  const write = (name: string, content: string, mode: number) => {
    fs.writeFileSync(path.join(control, name), content)
    fs.chmodSync(path.join(control, name), mode)
  }
  fs.mkdirSync(control, { mode: 0o755 })
  const size = Math.ceil(fs.statSync(path.join(tree, 'usr/bin/muster-agent')).size / 1024)
  const fields = {
    Package: 'muster-agent',
    Version: VERSION,
    Architecture: architecture,
    Maintainer: 'Muster <muster@localhost>',
    'Installed-Size': size,
    Section: 'admin',
    Priority: 'optional',
    Description: DESCRIPTION,
  }
  write(
    'control',
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
    0o644,
  )
  write('conffiles', '/etc/muster/agent.yaml\n', 0o644)
  write('postinst', script('configure', 'systemctl daemon-reload\n  systemctl try-restart muster-agent'), 0o755)
  write('prerm', script('remove', 'systemctl disable --now muster-agent'), 0o755)
  execFileSync('find', [tree, '-exec', 'touch', '-h', '-d', `@${epoch}`, '{}', '+'])
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', `-z${level}`, '--build', tree, file], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  fs.rmSync(control, { recursive: true })
  return file
}

const script = (when: string, what: string) => `#!/bin/sh
set -e
if [ "$1" = ${when} ] && [ -d /run/systemd/system ]; then
  ${what}
fi
`

function buildRpm(tree: string, work: string, out: string, architecture: string, env: NodeJS.ProcessEnv, level: number): string {
  const spec = path.join(work, 'muster-agent.spec')
  fs.writeFileSync(
    spec,
    `Name: muster-agent
Version: ${VERSION}
Release: 1
Summary: ${DESCRIPTION}
License: Apache-2.0
AutoReqProv: no
%description
${DESCRIPTION}
%install
cp -a ${tree}/. %{buildroot}/
%post
if [ -d /run/systemd/system ]; then systemctl daemon-reload; systemctl try-restart muster-agent; fi
%preun
if [ "$1" = 0 ] && [ -d /run/systemd/system ]; then systemctl disable --now muster-agent; fi
%files
%attr(0755,root,root) /usr/bin/muster-agent
%attr(0644,root,root) /lib/systemd/system/muster-agent.service
%dir %attr(0755,root,root) /etc/muster
%config(noreplace) %attr(0644,root,root) /etc/muster/agent.yaml
`,
  )
  const defines = {
    _topdir: path.join(work, 'rpm'),
    _rpmdir: out,
    _rpmfilename: `muster-agent-${VERSION}-1.%{ARCH}.rpm`,
    _buildhost: 'reproducible',
    _binary_payload: `w${level}.gzdio`,
    _build_id_links: 'none',
    debug_package: '%{nil}',
    __os_install_post: '%{nil}',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
  }
  const flags = Object.entries(defines).flatMap(([name, value]) => ['--define', `${name} ${value}`])
  execFileSync('rpmbuild', ['-bb', '--quiet', '--target', `${architecture}-linux`, ...flags, spec], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return path.join(out, `muster-agent-${VERSION}-1.${architecture}.rpm`)
}
