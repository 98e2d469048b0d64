import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cleanEnv } from '../commands.ts'
import { endInLab } from './end-in-lab.ts'

export interface MachineOptions {
  name: string
  /** MAC of its network card. */
  mac: string
}

/** A machine of qemu in the lab's network. */
export interface Machine {
  name: string
  mac: string
  /** As its firmware reports them. */
  serial: string
  uuid: string
  /** Address for a DHCP reservation; without one the machine gets an address of the pool. */
  address: string
  isOn(): boolean
  /** Switches it on; it boots from the network. No effect when it is on. */
  on(): void
  /** Cuts its power. */
  off(): Promise<void>
  /** Output of its serial console since it was last switched on: messages of the kernel and of init. */
  console(): string
}

type Context = {
  address: string
  tap: string
  disk: string
  console: string
  accelerator: 'kvm' | 'tcg'
  inLab: (argv: string[]) => string[]
}

/** The kernel and the initial RAM disk need half of it. */
const MEMORY_MB = 256

export function openMachine(
  { name, mac }: MachineOptions,
  { address, tap, disk, console, accelerator, inLab }: Context,
): Machine {
  const serial = `LAB-${mac.replaceAll(':', '').toUpperCase()}`
  const uuid = `4c4c4544-0000-4000-8000-${mac.replaceAll(':', '')}`
  const argv = [
    ...['qemu-system-x86_64', '-name', name, '-nodefaults', '-no-user-config', '-display', 'none', '-vga', 'none'],
    ...['-accel', accelerator, '-m', String(MEMORY_MB), '-smp', '1', '-boot', 'n'],
    ...['-smbios', `type=1,manufacturer=Muster,product=Lab machine,serial=${serial},uuid=${uuid}`],
    ...['-netdev', `tap,id=net,ifname=${tap},script=no,downscript=no`, '-device', `virtio-net-pci,netdev=net,mac=${mac}`],
    ...['-drive', `file=${disk},if=virtio,format=raw`, '-serial', `file:${console}`],
  ]
  let process: ChildProcess | null = null
  const isOn = () => process !== null && process.exitCode === null && process.signalCode === null
  return {
    name,
    mac,
    serial,
    uuid,
    address,
    isOn,
    on() {
      if (isOn()) return
      const [program, ...args] = inLab(argv)
      process = spawn(program!, args, { env: cleanEnv, cwd: '/', stdio: 'ignore' })
      process.unref()
    },
    async off() {
      if (process) await endInLab(process)
    },
    console: () => (existsSync(console) ? readFileSync(console, 'utf8') : ''),
  }
}
