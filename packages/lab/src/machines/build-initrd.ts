import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { findProgram, runChecked } from '../commands.ts'
import { writeFiles } from '../files.ts'

/** Drivers of qemu's network card and disk, each after those that it needs. A kernel may have some of them built in. */
const MODULES = [
  'virtio_ring',
  'virtio',
  'virtio_pci_legacy_dev',
  'virtio_pci_modern_dev',
  'virtio_pci',
  'failover',
  'net_failover',
  'virtio_net',
  'virtio_blk',
]
const SCRIPTS = {
  init: 'init.sh',
  'bin/configure-network': 'configure-network.sh',
  'bin/apply-cloud-init': 'apply-cloud-init.sh',
}

/**
 * Builds an initial RAM disk from this machine's busybox and dropbear and the kernel's drivers. It needs no other root.
 * @param modules folder of the kernel's modules
 * @param file where to write it
 */
export async function buildInitrd(modules: string, file: string): Promise<void> {
  const root = mkdtempSync(path.join(tmpdir(), 'muster-initrd-'))
  // Users of the machine must be able to open its root.
  chmodSync(root, 0o755)
  try {
    for (const folder of ['bin', 'dev', 'etc/dropbear', 'home', 'modules', 'proc', 'root', 'run', 'sys', 'tmp', 'usr', 'var'])
      mkdirSync(path.join(root, folder), { recursive: true })
    for (const link of ['sbin', 'usr/bin', 'usr/sbin']) symlinkSync('/bin', path.join(root, link))
    await copyPrograms(root)
    for (const [name, script] of Object.entries(SCRIPTS)) {
      copyFileSync(path.join(import.meta.dirname, 'initrd', script), path.join(root, name))
      chmodSync(path.join(root, name), 0o755)
    }
    const found = MODULES.flatMap((name) => globSync(`${modules}/**/${name}.ko`))
    for (const each of found) copyFileSync(each, path.join(root, 'modules', path.basename(each)))
    writeFiles(root, [
      { path: '/modules/order', content: found.map((each) => `${path.basename(each)}\n`).join('') },
      // The shell of the admin user; busybox has no applet of this name.
      { path: '/bin/bash', content: '#!/bin/sh\nexec /bin/sh "$@"\n', mode: 0o755 },
      { path: '/etc/passwd', content: 'root:x:0:0:root:/root:/bin/sh\n' },
      { path: '/etc/group', content: 'root:x:0:\n' },
      { path: '/etc/shells', content: '/bin/sh\n/bin/bash\n' },
      { path: '/etc/os-release', content: 'ID=muster-lab\nVERSION_ID=1\nPRETTY_NAME="Muster lab machine"\n' },
    ])
    const names = globSync('**', { cwd: root }).join('\n')
    const archive = execFileSync(findProgram('busybox')!, ['cpio', '-o', '-H', 'newc', '-R', '0:0'], {
      cwd: root,
      input: names,
      stdio: ['pipe', 'pipe', 'ignore'],
      maxBuffer: 1 << 28,
    })
    writeFileSync(file, gzipSync(archive, { level: 1 }))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** busybox with a link for each of its commands, and dropbear with its libraries. */
async function copyPrograms(root: string): Promise<void> {
  const busybox = findProgram('busybox')!
  copyFileSync(busybox, path.join(root, 'bin/busybox'))
  const applets = (await runChecked([busybox, '--list'])).trim().split('\n')
  for (const applet of applets.filter((name) => name !== 'busybox')) symlinkSync('busybox', path.join(root, 'bin', applet))
  for (const program of ['dropbear', 'dropbearkey'].map((name) => findProgram(name)!)) {
    copyFileSync(program, path.join(root, 'bin', path.basename(program)))
    const linked = await runChecked(['ldd', program])
    for (const [, library] of linked.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)) {
      const target = path.join(root, library!)
      mkdirSync(path.dirname(target), { recursive: true })
      copyFileSync(library!, target)
    }
  }
}
