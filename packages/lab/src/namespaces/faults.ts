import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { must, until } from '../commands.ts'
import { toolScripts } from '../hardware.ts'
import { newKeyPair } from '../keys.ts'
import { profileOf } from '../profiles.ts'
import { isAlive, type LabState, refTo } from '../registry.ts'
import type { FaultArguments, FaultName } from '../types.ts'
import { execInNode, nodeInit } from './exec.ts'
import { slowDown, speedUp } from './latency.ts'
import { labIp, openBridge, portOf } from './network.ts'
import { diskOptions, labRoot } from './up.ts'

/** A fault of a node: `cause` and `undo` may each be called twice, and from any process. */
interface Fault<F extends FaultName> {
  cause(at: Place, args: FaultArguments[F]): Promise<unknown>
  undo?(at: Place): Promise<unknown>
}

/** Where a fault strikes. `dir` is the node's directory on the lab's tmpfs, as seen from outside. */
export interface Place {
  state: LabState
  name: string
  dir: string
  keeper: number
  /** The bridge port that the node hangs on: in which named namespace (null: the lab's), on which bridge. */
  port: string
  netns: string | null
  bridge: string
}

export function placeOf(state: LabState, name: string): Place {
  const index = state.nodes.findIndex((node) => node.name === name)
  const hidden = state.nodes[index]?.behindBastion ?? false
  return {
    state,
    name,
    dir: path.join(labRoot(state), 'nodes', name),
    keeper: state.keepers[0]!.pid,
    port: portOf(index < 0 ? state.nodes.length : index),
    netns: hidden ? 'bastion' : null,
    bridge: hidden ? 'rack0' : openBridge,
  }
}

/** Runs a constant script in the node; values travel as its arguments. */
async function script(at: Place, text: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await execInNode(at.state, at.name, ['/bin/sh', '-euc', text, 'fault', ...args])
  if (code !== 0) throw new Error(`The fault on ${at.name} could not be set or undone: ${stderr.trim() || `exit ${code}`}`)
}

const endSessions = `for dir in /proc/[0-9]*; do
  read -r name < "$dir/comm" || continue
  case "$name" in sshd*) kill -KILL "\${dir#/proc/}" || true ;; esac
done 2>/dev/null`
/** Returns when the listener is dead, so that its port is free. */
const stopListener = `if [ -s /run/sshd.pid ]; then
  read -r pid < /run/sshd.pid
  while kill -KILL "$pid" 2>/dev/null; do sleep 0.01; done
  rm -f /run/sshd.pid
fi`
// A node that is just booting starts its own; whether one listens in the end is for the caller to wait for.
const startListener = '[ -s /run/sshd.pid ] || /usr/sbin/sshd $(cat /usr/lib/lab/sshd-options) || true'
/** Makes a listener read its keys again. Not by SIGHUP, which says nothing of when it has been done. */
const restart = `if [ -s /run/sshd.pid ]; then
  ${stopListener}
  ${startListener}
  until [ -s /run/sshd.pid ]; do sleep 0.01; done
fi`

/** A fault that replaces the node's vendor tool by a script. */
function toolFault(body: string): Fault<'endless-output' | 'hung-tool' | 'flood-tool'> {
  return {
    cause: async (at, { tool }: { tool?: string }) => {
      const node = at.state.nodes.find(({ name }) => name === at.name)
      const name = tool ?? (node && profileOf(node.profile).tool)
      if (!name || !/^[\w.-]+$/.test(name)) throw new Error(`${at.name} has no vendor tool; say which command to replace.`)
      // A tool of the profile's own is set aside; one that was never there is marked by an empty file.
      await script(
        at,
        `mkdir -p /usr/lib/lab/aside; cd /usr/local/bin
        [ -e "/usr/lib/lab/aside/$1" ] || { [ ! -e "$1" ] || cp -p "$1" "/usr/lib/lab/aside/$1"; [ -e "/usr/lib/lab/aside/$1" ] || : > "/usr/lib/lab/aside/$1"; }
        rm -f "$1"; printf %s "$2" > "$1"; chmod 755 "$1"`,
        name,
        body,
      )
    },
    undo: (at) =>
      script(
        at,
        `cd /usr/lib/lab/aside 2>/dev/null || exit 0
        for tool in *; do
          [ -e "$tool" ] || continue
          rm -f "/usr/local/bin/$tool"
          if [ -s "$tool" ]; then mv "$tool" /usr/local/bin/; else rm "$tool"; fi
        done`,
      ),
  }
}

async function killNode(at: Place, signal: 'HUP' | 'INT'): Promise<void> {
  const init = refTo(await nodeInit(at.state, at.name))
  await must(['kill', `-${signal}`, String(init.pid)])
  await until(`${at.name} to go down`, () => !isAlive(init))
}

const remount = (at: Place, options: string) =>
  must([
    'nsenter',
    '--target',
    String(at.keeper),
    '--mount',
    'mount',
    '-o',
    `remount,${options}`,
    `/run/lab/nodes/${at.name}/disk`,
  ])

export const faults: { [F in FaultName]: Fault<F> } = {
  'link-down': {
    cause: (at) => labIp(at.keeper, at.netns, ['link', 'set', at.port, 'down']),
    undo: (at) => labIp(at.keeper, at.netns, ['link', 'set', at.port, 'up']),
  },
  latency: { cause: (at, { ms = 200, lossPercent = 0 }) => slowDown(at, ms, lossPercent), undo: speedUp },
  'changed-host-key': {
    cause: async (at) => {
      const key = newKeyPair(at.name)
      const keep = `cd /etc/ssh; [ -e kept.pub ] || { cp -p ssh_host_ed25519_key kept; cp ssh_host_ed25519_key.pub kept.pub; }`
      await script(
        at,
        `${keep}; printf %s "$1" > ssh_host_ed25519_key; echo "$2" > ssh_host_ed25519_key.pub; ${restart}`,
        key.private,
        key.public,
      )
    },
    undo: (at) =>
      script(
        at,
        `cd /etc/ssh; [ ! -e kept.pub ] || { mv kept ssh_host_ed25519_key; mv kept.pub ssh_host_ed25519_key.pub; ${restart}; }`,
      ),
  },
  // The limit becomes what is already used: instant, and no byte has to be written.
  'full-disk': {
    cause: async (at) => {
      const used = await must([
        'nsenter',
        '--target',
        String(at.keeper),
        '--mount',
        'df',
        '--output=used',
        '-B1',
        `/run/lab/nodes/${at.name}/disk`,
      ])
      await remount(at, `size=${Math.max(4096, Number(used.trim().split('\n').at(-1)))}`)
    },
    undo: (at) => remount(at, diskOptions),
  },
  'endless-output': toolFault(toolScripts['endless-output']),
  'hung-tool': toolFault(toolScripts['hung-tool']),
  'flood-tool': toolFault(toolScripts['flood-tool']),
  // sshd runs this file before every command, whatever the user's shell.
  'slow-shell': {
    cause: (at, { seconds = 5 }) => script(at, 'echo "sleep $1" > /etc/ssh/sshrc', String(Number(seconds))),
    undo: (at) => script(at, 'rm -f /etc/ssh/sshrc'),
  },
  // The kernel goes on completing handshakes for a stopped listener.
  tarpit: {
    cause: (at) => script(at, 'kill -STOP "$(cat /run/sshd.pid)"'),
    undo: (at) => script(at, 'if [ -s /run/sshd.pid ]; then kill -CONT "$(cat /run/sshd.pid)"; fi'),
  },
  'port-closed': { cause: (at) => script(at, stopListener), undo: (at) => script(at, startListener) },
  'sshd-stop': { cause: (at) => script(at, `${endSessions}; ${stopListener}`), undo: (at) => script(at, startListener) },
  reboot: {
    cause: async (at, { downMs = 0 }) => {
      await writeFile(path.join(at.dir, 'hold'), downMs > 0 ? String(downMs / 1000) : '')
      await killNode(at, 'HUP')
    },
  },
  'power-off': {
    cause: (at) => killNode(at, 'INT'),
    undo: async (at) => {
      if (await isOff(at)) await writeFile(path.join(at.dir, 'power'), '')
    },
  },
  'no-python': {
    cause: (at) => script(at, 'mkdir -p /usr/lib/lab/python; mv /usr/bin/python* /usr/lib/lab/python/ 2>/dev/null || true'),
    undo: (at) =>
      script(at, '[ ! -d /usr/lib/lab/python ] || { mv /usr/lib/lab/python/* /usr/bin/; rmdir /usr/lib/lab/python; }'),
  },
  // The last matching rule of sudoers wins.
  'sudo-denied': {
    cause: (at) =>
      script(at, 'umask 337; rm -f /etc/sudoers.d/zz-denied; echo "ALL,!root ALL=(ALL:ALL) !ALL" > /etc/sudoers.d/zz-denied'),
    undo: (at) => script(at, 'rm -f /etc/sudoers.d/zz-denied'),
  },
}

/** A node that is neither running nor on its way up. */
async function isOff(at: Place): Promise<boolean> {
  const pid = await readFile(path.join(at.dir, 'pid'), 'utf8').catch(() => '')
  return !existsSync(`/proc/${Number(pid)}`) && !existsSync(path.join(at.dir, 'power'))
}
