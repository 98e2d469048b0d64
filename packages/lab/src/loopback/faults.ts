import { existsSync } from 'node:fs'
import { chmod, copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { waitUntil } from '../commands.ts'
import { toolScripts } from '../hardware.ts'
import { newKeyPair } from '../keys.ts'
import { descendants } from '../processes.ts'
import { type ProfileName, profileOf } from '../profiles.ts'
import { startTimeOf } from '../registry.ts'
import type { FaultArguments, FaultName } from '../types.ts'
import { answersSsh, sshdConfig } from './start.ts'

interface FaultTarget {
  name: string
  host: string
  port: number
  dir: string
  profile: ProfileName | null
}

interface Fault<F extends FaultName> {
  inject(target: FaultTarget, args: FaultArguments[F]): Promise<unknown>
  revert(target: FaultTarget): Promise<unknown>
}

/** Faults that need a separate machine. */
export const unavailable: Partial<Record<FaultName, string>> = {
  'link-down': 'nodes without root share the loopback interface.',
  latency: 'nodes without root share the loopback interface.',
  'full-disk': "nodes without root share this machine's disk.",
  reboot: "nodes without root share this machine's kernel; use sshd-stop.",
  'power-off': "nodes without root share this machine's kernel; use sshd-stop.",
  'no-python': "nodes without root share this machine's programs.",
  'sudo-denied': "nodes without root share this machine's sudo.",
  'truncated-output': 'nodes without root run no Slurm.',
  'controller-stop': 'nodes without root run no Slurm.',
  'controller-freeze': 'nodes without root run no Slurm.',
  'wrong-munge-key': 'nodes without root run no Slurm.',
  'clock-skew': 'nodes without root run no Slurm.',
  'broken-slurm-conf': 'nodes without root run no Slurm.',
}

/** Signals the listener and optionally its sessions; returns the listener's pid on the host, 0 when there is none. */
async function signalListener(target: FaultTarget, signal: NodeJS.Signals, withSessions = false): Promise<number> {
  const pid = await listenerOf(target)
  const targets = pid ? [pid, ...(withSessions ? await descendants(pid) : [])] : []
  for (const target of targets) {
    try {
      process.kill(target, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
  return pid
}

const listenerOf = async (target: FaultTarget) => Number(await readFile(path.join(target.dir, 'pid'), 'utf8').catch(() => '0'))

/** Kills the listener, and returns when its port is free. */
async function killListener(target: FaultTarget, withSessions = false): Promise<number> {
  const pid = await signalListener(target, 'SIGKILL', withSessions)
  await waitUntil(`the sshd of ${target.name} to exit`, () => pid === 0 || startTimeOf(pid) === null)
  return pid
}

/** Makes sshd reload its files. Not with SIGHUP, because its completion cannot be observed. */
async function restart(target: FaultTarget): Promise<void> {
  if (existsSync(path.join(target.dir, 'hold'))) return
  const pid = await killListener(target)
  await waitUntil(
    `the sshd of ${target.name} to restart`,
    async () => (await listenerOf(target)) !== pid && answersSsh(target.host, target.port),
  )
}

function toolFault(body: string): Fault<'endless-output' | 'hung-tool' | 'flood-tool'> {
  return {
    async inject(target, { tool }: { tool?: string }) {
      const name = tool ?? (target.profile && profileOf(target.profile).tool)
      if (!name || !/^[\w.-]+$/.test(name))
        throw new Error(`${target.name} has no vendor tool; set "tool" to the command to replace.`)
      const file = path.join(target.dir, 'bin', name)
      const original = `${file}.original`
      if (existsSync(file) && !existsSync(original)) await copyFile(file, original)
      await rm(file, { force: true })
      await writeFile(file, body, { mode: 0o755 })
      await appendName(target, name)
    },
    async revert(target) {
      for (const name of await replacedNames(target)) {
        const file = path.join(target.dir, 'bin', name)
        await rm(file, { force: true })
        if (existsSync(`${file}.original`)) await rename(`${file}.original`, file)
      }
      await rm(path.join(target.dir, 'replaced'), { force: true })
    },
  }
}

const replacedNames = async (target: FaultTarget) =>
  (await readFile(path.join(target.dir, 'replaced'), 'utf8').catch(() => '')).split('\n').filter(Boolean)
const appendName = async (target: FaultTarget, name: string) =>
  writeFile(path.join(target.dir, 'replaced'), [...new Set([...(await replacedNames(target)), name])].join('\n'))

async function configure(target: FaultTarget, extra: string): Promise<void> {
  await writeFile(path.join(target.dir, 'sshd_config'), sshdConfig(target.dir, target, extra))
  await restart(target)
}

function stopListening(withSessions: boolean): Fault<'port-closed' | 'sshd-stop'> {
  const hold = (target: FaultTarget) => path.join(target.dir, 'hold')
  return {
    async inject(target) {
      await writeFile(hold(target), '')
      await killListener(target, withSessions)
    },
    revert: (target) => rm(hold(target), { force: true }),
  }
}

export const faults: { [F in FaultName]?: Fault<F> } = {
  'changed-host-key': {
    async inject(target) {
      const file = path.join(target.dir, 'host_key')
      if (!existsSync(`${file}.original`))
        for (const end of ['', '.pub']) await copyFile(`${file}${end}`, `${file}${end}.original`)
      const key = newKeyPair(target.name)
      await writeFile(file, key.private)
      await writeFile(`${file}.pub`, `${key.public}\n`)
      await restart(target)
    },
    async revert(target) {
      const file = path.join(target.dir, 'host_key')
      if (!existsSync(`${file}.original`)) return
      for (const end of ['', '.pub']) await rename(`${file}${end}.original`, `${file}${end}`)
      await restart(target)
    },
  },
  'endless-output': toolFault(toolScripts['endless-output']),
  'hung-tool': toolFault(toolScripts['hung-tool']),
  'flood-tool': toolFault(toolScripts['flood-tool']),
  // A forced command, because the user's startup files must not be changed. It prevents SFTP.
  'slow-shell': {
    async inject(target, { seconds = 5 }) {
      const file = path.join(target.dir, 'slow-shell')
      await writeFile(file, `#!/bin/sh\nsleep ${Number(seconds)}\nexec /bin/sh -c "\${SSH_ORIGINAL_COMMAND:-exec /bin/sh -l}"\n`)
      await chmod(file, 0o755)
      await configure(target, `ForceCommand ${file}\n`)
    },
    revert: (target) => configure(target, ''),
  },
  tarpit: { inject: (target) => signalListener(target, 'SIGSTOP'), revert: (target) => signalListener(target, 'SIGCONT') },
  'port-closed': stopListening(false),
  'sshd-stop': stopListening(true),
}
