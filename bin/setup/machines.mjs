import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { downloadDebs } from './debs.mjs'
import { cloudInit as cloudInitFolder, machines as folder } from './paths.mjs'
import { Aborted, ensureStep, exec, fingerprint, progress, StepFailed, step } from './step.mjs'
import { systemPackages, which } from './system-packages.mjs'

/** Depends on the package of Debian's current kernel for virtual machines. */
const KERNEL = 'linux-image-cloud-amd64'
/** How long KVM may take to start the kernel. */
const KVM_MS = 5000

/**
 * Installs qemu with its iPXE and what the machines' initial RAM disk contains, and unpacks Debian's kernel. The kernel is not installed:
 * it would become that of this machine. Only a lab in namespaces can run machines, which needs root.
 * @returns {Promise<boolean>} false when this system cannot provide it; the reason is printed
 */
export async function machines() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const outputs = ['boot', 'lib/modules', 'accelerator'].map((file) => path.join(folder, file))
  try {
    if (!which('apt-get') || !which('dpkg-deb') || process.arch !== 'x64')
      throw new StepFailed('they boot the kernel of Debian for x86-64')
    await systemPackages(['qemu', 'dnsmasq', 'busybox', 'dropbear'])
    await ensureStep({ name: 'machines', key: fingerprint([], [KERNEL]), outputs }, () =>
      step('Unpack a kernel for the lab', unpack),
    )
    return true
  } catch (error) {
    if (error instanceof Aborted) throw error
    progress.out.write(`  Lab machines are not possible: ${error.message}.\n`)
    return false
  }
}

async function unpack() {
  fs.rmSync(folder, { recursive: true, force: true })
  // Its dependencies too: the package itself only names the current version.
  const downloads = await downloadDebs('machines', [KERNEL])
  const [kernel] = fs.readdirSync(downloads).filter((file) => /^linux-image-\d.*\.deb$/.test(file))
  if (!kernel) throw new StepFailed(`${KERNEL} names no kernel`)
  await exec(['dpkg-deb', '--extract', path.join(downloads, kernel), folder])
  fs.rmSync(downloads, { recursive: true, force: true })
  fs.writeFileSync(path.join(folder, 'accelerator'), (await bootsWithKvm()) ? 'kvm\n' : 'tcg\n')
}

/**
 * Downloads Debian's cloud-init for nodes of the lab that install it. It is not installed: it would configure this machine.
 * @returns {Promise<string | undefined>} the folder of its packages; undefined when this system cannot provide it
 */
export async function cloudInit() {
  if (process.getuid?.() !== 0 || !which('apt-get')) return undefined
  try {
    const outputs = [cloudInitFolder]
    await ensureStep({ name: 'cloud-init', key: fingerprint([], ['cloud-init']), outputs }, () =>
      step('Download cloud-init for tests', async () => {
        fs.rmSync(cloudInitFolder, { recursive: true, force: true })
        fs.renameSync(await downloadDebs('cloud-init', ['cloud-init']), cloudInitFolder)
      }),
    )
    return cloudInitFolder
  } catch (error) {
    if (error instanceof Aborted) throw error
    progress.out.write(`  The test of cloud-init is skipped: ${error.message}.\n`)
  }
}

/** Whether KVM boots the kernel. /dev/kvm may exist and fail, for example inside another virtual machine. */
async function bootsWithKvm() {
  const [vmlinuz] = fs.readdirSync(path.join(folder, 'boot')).filter((file) => file.startsWith('vmlinuz-'))
  const args = ['-accel', 'kvm', '-m', '256', '-nodefaults', '-display', 'none', '-serial', 'stdio', '-no-reboot']
  const kernel = ['-kernel', path.join(folder, 'boot', vmlinuz), '-append', 'console=ttyS0 panic=-1']
  const qemu = spawn('qemu-system-x86_64', [...args, ...kernel], { stdio: ['ignore', 'pipe', 'ignore'] })
  const limit = setTimeout(() => qemu.kill('SIGKILL'), KVM_MS)
  let printed = ''
  qemu.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text
    if (printed.includes('Linux version')) qemu.kill('SIGKILL')
  })
  await new Promise((resolve) => qemu.once('close', resolve).once('error', resolve))
  clearTimeout(limit)
  return printed.includes('Linux version')
}
