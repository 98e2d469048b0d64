import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../commands.ts'

/** Debian's kernel, unpacked by bin/setup/machines.mjs. */
const folder = fileURLToPath(new URL('../../../../.tool/machines', import.meta.url))

/** `modules`: folder of the drivers. `accelerator`: kvm only if it boots this kernel here. */
export type MachineKernel = { vmlinuz: string; modules: string; accelerator: 'kvm' | 'tcg' }

const PROGRAMS = ['qemu-system-x86_64', 'dnsmasq', 'busybox', 'dropbear', 'ip', 'nsenter']

/** Why this machine cannot run machines; null when it can. */
export function machinesBlockedReason(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'lab machines need root on Linux'
  if (process.arch !== 'x64') return 'lab machines need x86-64'
  const missing = PROGRAMS.filter((program) => findProgram(program) === null)
  if (missing.length > 0) return `${missing.join(', ')} is not installed; the setup of \`npm test\` installs it`
  if (!existsSync('/dev/net/tun')) return 'this machine has no /dev/net/tun'
  if (globSync(`${folder}/boot/vmlinuz-*`).length === 0)
    return `there is no kernel in ${folder}; the setup of \`npm test\` unpacks it`
  return null
}

/** @throws Error when `machinesBlockedReason` has a reason */
export function machineKernel(): MachineKernel {
  const reason = machinesBlockedReason()
  if (reason) throw new Error(`This machine cannot run lab machines: ${reason}.`)
  const vmlinuz = globSync(`${folder}/boot/vmlinuz-*`)[0]!
  const accelerator = path.join(folder, 'accelerator')
  const isKvm = existsSync(accelerator) && readFileSync(accelerator, 'utf8').trim() === 'kvm'
  return { vmlinuz, modules: path.join(folder, 'lib/modules'), accelerator: isKvm ? 'kvm' : 'tcg' }
}
