import { existsSync } from 'node:fs'
import { chmod, copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { until } from '../commands.ts'
import { toolScripts } from '../hardware.ts'
import { newKeyPair } from '../keys.ts'
import { descendants } from '../processes.ts'
import { type ProfileName, profileOf } from '../profiles.ts'
import { startOf } from '../registry.ts'
import type { FaultArguments, FaultName } from '../types.ts'
import { greets, sshdConfig } from './up.ts'

interface Place {
  name: string
  host: string
  port: number
  dir: string
  profile: ProfileName | null
}

interface Fault<F extends FaultName> {
  cause(at: Place, args: FaultArguments[F]): Promise<unknown>
  undo(at: Place): Promise<unknown>
}

/** What only a machine of its own can suffer. */
export const unavailable: Partial<Record<FaultName, string>> = {
  'link-down': 'nodes without root share the loopback interface.',
  latency: 'nodes without root share the loopback interface.',
  'full-disk': "nodes without root share this machine's disk.",
  reboot: "nodes without root share this machine's kernel; use sshd-stop.",
  'power-off': "nodes without root share this machine's kernel; use sshd-stop.",
  'no-python': "nodes without root share this machine's programs.",
  'sudo-denied': 'nodes without root have no sudo of their own.',
}

/** Signals the listener and perhaps its sessions; returns its pid as the host counts, 0 when there is none. */
async function signalListener(at: Place, signal: NodeJS.Signals, withSessions = false): Promise<number> {
  const pid = await listenerOf(at)
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

const listenerOf = async (at: Place) => Number(await readFile(path.join(at.dir, 'pid'), 'utf8').catch(() => '0'))

/** Ends the listener, and returns when its port is free. */
async function killListener(at: Place, withSessions = false): Promise<number> {
  const pid = await signalListener(at, 'SIGKILL', withSessions)
  await until(`the sshd of ${at.name} to end`, () => pid === 0 || startOf(pid) === null)
  return pid
}

/** Makes sshd read its files again. Not by SIGHUP, which says nothing of when it has been done. */
async function restart(at: Place): Promise<void> {
  if (existsSync(path.join(at.dir, 'hold'))) return
  const pid = await killListener(at)
  await until(`the sshd of ${at.name} to come back`, async () => (await listenerOf(at)) !== pid && greets(at.host, at.port))
}

function toolFault(body: string): Fault<'endless-output' | 'hung-tool' | 'flood-tool'> {
  return {
    async cause(at, { tool }: { tool?: string }) {
      const name = tool ?? (at.profile && profileOf(at.profile).tool)
      if (!name || !/^[\w.-]+$/.test(name)) throw new Error(`${at.name} has no vendor tool; say which command to replace.`)
      const file = path.join(at.dir, 'bin', name)
      const kept = `${file}.kept`
      if (existsSync(file) && !existsSync(kept)) await copyFile(file, kept)
      await rm(file, { force: true })
      await writeFile(file, body, { mode: 0o755 })
      await appendName(at, name)
    },
    async undo(at) {
      for (const name of await replacedNames(at)) {
        const file = path.join(at.dir, 'bin', name)
        await rm(file, { force: true })
        if (existsSync(`${file}.kept`)) await rename(`${file}.kept`, file)
      }
      await rm(path.join(at.dir, 'replaced'), { force: true })
    },
  }
}

const replacedNames = async (at: Place) =>
  (await readFile(path.join(at.dir, 'replaced'), 'utf8').catch(() => '')).split('\n').filter(Boolean)
const appendName = async (at: Place, name: string) =>
  writeFile(path.join(at.dir, 'replaced'), [...new Set([...(await replacedNames(at)), name])].join('\n'))

async function configure(at: Place, extra: string): Promise<void> {
  await writeFile(path.join(at.dir, 'sshd_config'), sshdConfig(at.dir, at, extra))
  await restart(at)
}

function closed(withSessions: boolean): Fault<'port-closed' | 'sshd-stop'> {
  const hold = (at: Place) => path.join(at.dir, 'hold')
  return {
    async cause(at) {
      await writeFile(hold(at), '')
      await killListener(at, withSessions)
    },
    undo: (at) => rm(hold(at), { force: true }),
  }
}

export const faults: { [F in FaultName]?: Fault<F> } = {
  'changed-host-key': {
    async cause(at) {
      const file = path.join(at.dir, 'host_key')
      if (!existsSync(`${file}.kept`)) for (const end of ['', '.pub']) await copyFile(`${file}${end}`, `${file}${end}.kept`)
      const key = newKeyPair(at.name)
      await writeFile(file, key.private)
      await writeFile(`${file}.pub`, `${key.public}\n`)
      await restart(at)
    },
    async undo(at) {
      const file = path.join(at.dir, 'host_key')
      if (!existsSync(`${file}.kept`)) return
      for (const end of ['', '.pub']) await rename(`${file}${end}.kept`, `${file}${end}`)
      await restart(at)
    },
  },
  'endless-output': toolFault(toolScripts['endless-output']),
  'hung-tool': toolFault(toolScripts['hung-tool']),
  'flood-tool': toolFault(toolScripts['flood-tool']),
  // The user's own start-up files are not ours to change; a forced command waits in their place (and rules SFTP out).
  'slow-shell': {
    async cause(at, { seconds = 5 }) {
      const file = path.join(at.dir, 'slow-shell')
      await writeFile(file, `#!/bin/sh\nsleep ${Number(seconds)}\nexec /bin/sh -c "\${SSH_ORIGINAL_COMMAND:-exec /bin/sh -l}"\n`)
      await chmod(file, 0o755)
      await configure(at, `ForceCommand ${file}\n`)
    },
    undo: (at) => configure(at, ''),
  },
  tarpit: { cause: (at) => signalListener(at, 'SIGSTOP'), undo: (at) => signalListener(at, 'SIGCONT') },
  'port-closed': closed(false),
  'sshd-stop': closed(true),
}
