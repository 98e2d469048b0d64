import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { cleanEnv, runChecked, waitUntil } from '../commands.ts'
import type { LabState } from '../registry.ts'
import { serveFolder } from '../serve-folder.ts'
import type { Lab } from '../types.ts'
import { buildInitrd } from './build-initrd.ts'
import { endInLab } from './end-in-lab.ts'
import { type Machine, type MachineOptions, openMachine } from './machine.ts'
import { machineKernel } from './programs.ts'

/** Addresses of machines in the lab's network, which its nodes do not use: fixed ones, and those of the DHCP pool. */
const FIRST_FIXED = 96
const POOL = { first: 112, last: 126 }
/** Address of the DHCP server. */
const DHCP_ADDRESS = 3
const BRIDGE = 'lab0'

/** Machines in the network of a lab, and what they boot from. */
export interface Machines {
  machines: Machine[]
  /** The machine with that name; throws when there is none. */
  machine(name: string): Machine
  /** URLs of the kernel and the initial RAM disk, for boot profiles. */
  kernelUrl: string
  initrdUrl: string
  /** Requested files in order, with the response status. */
  requests: { path: string; status: number }[]
  network: { subnet: string; first: string; last: string }
  /** Runs Debian's dnsmasq with this configuration instead of the one before. It serves DHCP in the lab's network only. */
  serveDhcp(config: string): Promise<void>
  /** What dnsmasq logged. */
  dhcpLog(): string
  /** Switches the machines off and stops DHCP. The end of the lab does the same. */
  down(): Promise<void>
}

/**
 * Prepares machines of qemu with Debian's kernel that boot from the network, switched off. Each has a network card with iPXE, whose
 * requests dnsmasq answers once `serveDhcp` has started it.
 * @throws Error when this machine cannot run them; see `machinesBlockedReason`
 */
export async function startMachines(lab: Lab, options: MachineOptions[]): Promise<Machines> {
  const kernel = machineKernel()
  if (lab.mode !== 'namespaces') throw new Error('Lab machines require a lab in namespaces.')
  const state = JSON.parse(readFileSync(path.join(lab.dir, 'state.json'), 'utf8')) as LabState
  const init = String(state.supervisors[1]!.pid)
  /** Programs in the lab's network that end with the lab. */
  const inLab = (argv: string[]) => ['nsenter', '--target', init, '--net', '--pid', '--', ...argv]
  const dir = path.join(lab.dir, 'machines')
  const files = path.join(dir, 'files')
  mkdirSync(files, { recursive: true })
  copyFileSync(kernel.vmlinuz, path.join(files, 'vmlinuz'))
  await buildInitrd(kernel.modules, path.join(files, 'initrd.gz'))
  const server = await serveFolder(files, lab.hostAddress)
  const addressOf = (last: number) => lab.hostAddress.replace(/\.\d+$/, `.${last}`)
  // iPXE waits 13 s for an IPv6 router before its first request, so dnsmasq also announces a network, without a default route.
  const prefix = `fd77:0:0:${state.subnet!.toString(16)}::`
  const taps = options.map((_, i) => `m${i}`)
  await runChecked(
    inLab(['ip', '-force', '-batch', '-']),
    [
      `addr replace ${addressOf(DHCP_ADDRESS)}/24 dev ${BRIDGE}`,
      `addr replace ${prefix}${DHCP_ADDRESS}/64 dev ${BRIDGE} nodad`,
      ...taps.flatMap((tap) => [`tuntap add dev ${tap} mode tap`, `link set ${tap} master ${BRIDGE} up`]),
      '',
    ].join('\n'),
  )
  const machines = options.map((each, i) => {
    const folder = path.join(dir, each.name)
    mkdirSync(folder)
    const disk = path.join(folder, 'disk')
    writeFileSync(disk, '')
    truncateSync(disk, 1024 * 1024)
    return openMachine(each, {
      address: addressOf(FIRST_FIXED + i),
      tap: taps[i]!,
      disk,
      console: path.join(folder, 'console'),
      accelerator: kernel.accelerator,
      inLab,
    })
  })
  const log = path.join(dir, 'dnsmasq.log')
  let dnsmasq: ChildProcess | null = null
  const stopDhcp = async () => {
    const running = dnsmasq
    dnsmasq = null
    if (running) await endInLab(running)
  }
  return {
    machines,
    machine: (name) => {
      const found = machines.find((each) => each.name === name)
      if (!found) throw new Error(`The lab has no machine "${name}".`)
      return found
    },
    kernelUrl: `${server.url}/vmlinuz`,
    initrdUrl: `${server.url}/initrd.gz`,
    requests: server.requests,
    network: { subnet: `${addressOf(0)}/24`, first: addressOf(POOL.first), last: addressOf(POOL.last) },
    async serveDhcp(config) {
      await stopDhcp()
      const file = path.join(dir, 'dnsmasq.conf')
      mkdirSync(path.join(dir, 'tftp'), { recursive: true })
      // Everything else is the configuration of the caller.
      writeFileSync(file, config.replace(/^tftp-root=.*$/m, `tftp-root=${path.join(dir, 'tftp')}`))
      writeFileSync(log, '', { flag: 'a' })
      const started = readFileSync(log, 'utf8').length
      const child = spawn(
        'nsenter',
        inLab([
          ...['dnsmasq', `--conf-file=${file}`, '--keep-in-foreground', `--log-facility=${log}`, '--log-dhcp', '--user=root'],
          ...[`--pid-file=${path.join(dir, 'dnsmasq.pid')}`, `--dhcp-leasefile=${path.join(dir, 'leases')}`],
          ...[`--interface=${BRIDGE}`, '--bind-interfaces', '--enable-ra', `--dhcp-range=${prefix},ra-only`],
          `--ra-param=${BRIDGE},0,0`,
        ]).slice(1),
        { env: cleanEnv, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] },
      )
      dnsmasq = child
      let stderr = ''
      child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      child.unref()
      await waitUntil('dnsmasq to start', () => {
        if (child.exitCode !== null) throw new Error(`dnsmasq exited with ${child.exitCode}: ${stderr.trim()}`)
        return readFileSync(log, 'utf8').slice(started).includes('IP range')
      })
    },
    dhcpLog: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
    async down() {
      await Promise.all([stopDhcp(), ...machines.map((machine) => machine.off()), server.close()])
    },
  }
}
