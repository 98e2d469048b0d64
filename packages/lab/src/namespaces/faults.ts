import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { runChecked, waitUntil } from '../commands.ts'
import { toolScripts } from '../hardware.ts'
import { newKeyPair } from '../keys.ts'
import { profileOf } from '../profiles.ts'
import { identify, isAlive } from '../registry.ts'
import { type SlurmFaultName, slurmFaults } from '../slurm/faults.ts'
import type { FaultArguments, FaultName } from '../types.ts'
import { execInNode, nodeInit } from './exec.ts'
import { addLatency, removeLatency } from './latency.ts'
import { labIp } from './network.ts'
import { diskOptions } from './start.ts'
import type { FaultTarget } from './target.ts'

/** A fault of a node. `inject` and `revert` are idempotent and work in any process. */
interface Fault<F extends FaultName> {
  inject(target: FaultTarget, args: FaultArguments[F]): Promise<unknown>
  revert?(target: FaultTarget): Promise<unknown>
}

/** Runs a constant script in the node; values are passed as arguments. */
async function script(target: FaultTarget, text: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await execInNode(target.state, target.name, ['/bin/sh', '-euc', text, 'fault', ...args])
  if (code !== 0) throw new Error(`Changing a fault on ${target.name} failed: ${stderr.trim() || `exit ${code}`}`)
}

const killSessions = `for dir in /proc/[0-9]*; do
  read -r name < "$dir/comm" || continue
  case "$name" in sshd*) kill -KILL "\${dir#/proc/}" || true ;; esac
done 2>/dev/null`
/** Returns when the listener has exited and its port is free. */
const stopListener = `if [ -s /run/sshd.pid ]; then
  read -r pid < /run/sshd.pid
  while kill -KILL "$pid" 2>/dev/null; do sleep 0.01; done
  rm -f /run/sshd.pid
fi`
// A booting node starts its own sshd. The caller waits until one listens.
const startListener = '[ -s /run/sshd.pid ] || /usr/sbin/sshd $(cat /usr/lib/lab/sshd-options) || true'
/** Makes sshd reload its keys. Not with SIGHUP, because its completion cannot be observed. */
const restart = `if [ -s /run/sshd.pid ]; then
  ${stopListener}
  ${startListener}
  until [ -s /run/sshd.pid ]; do sleep 0.01; done
fi`

/** A fault that replaces the node's vendor tool with a script. */
function toolFault(body: string): Fault<'endless-output' | 'hung-tool' | 'flood-tool' | 'truncated-output'> {
  return {
    inject: async (target, { tool }: { tool?: string }) => {
      const node = target.state.nodes.find(({ name }) => name === target.name)
      const name = tool ?? (node && profileOf(node.profile).tool)
      if (!name || !/^[\w.-]+$/.test(name))
        throw new Error(`${target.name} has no vendor tool; set "tool" to the command to replace.`)
      // Saves the original tool; an empty file marks a tool that did not exist.
      await script(
        target,
        `mkdir -p /usr/lib/lab/originals; cd /usr/local/bin
        [ -e "/usr/lib/lab/originals/$1" ] || { [ ! -e "$1" ] || cp -p "$1" "/usr/lib/lab/originals/$1"; [ -e "/usr/lib/lab/originals/$1" ] || : > "/usr/lib/lab/originals/$1"; }
        rm -f "$1"; printf %s "$2" > "$1"; chmod 755 "$1"`,
        name,
        body,
      )
    },
    revert: (target) =>
      script(
        target,
        `cd /usr/lib/lab/originals 2>/dev/null || exit 0
        for tool in *; do
          [ -e "$tool" ] || continue
          rm -f "/usr/local/bin/$tool"
          if [ -s "$tool" ]; then mv "$tool" /usr/local/bin/; else rm "$tool"; fi
        done`,
      ),
  }
}

async function killNode(target: FaultTarget, signal: 'HUP' | 'INT'): Promise<void> {
  const init = identify(await nodeInit(target.state, target.name))
  await runChecked(['kill', `-${signal}`, String(init.pid)])
  await waitUntil(`${target.name} to go down`, () => !isAlive(init))
}

const remount = (target: FaultTarget, options: string) =>
  runChecked([
    'nsenter',
    '--target',
    String(target.supervisor),
    '--mount',
    'mount',
    '-o',
    `remount,${options}`,
    `/run/lab/nodes/${target.name}/disk`,
  ])

function slurmFault(name: SlurmFaultName): Fault<SlurmFaultName> {
  const { inject, revert, args } = slurmFaults[name]
  return {
    inject: (target, options: { seconds?: number }) => script(target, inject, ...(args?.(options) ?? [])),
    revert: (target) => script(target, revert),
  }
}

export const faults: { [F in FaultName]: Fault<F> } = {
  'link-down': {
    inject: (target) => labIp(target.supervisor, target.netns, ['link', 'set', target.port, 'down']),
    revert: (target) => labIp(target.supervisor, target.netns, ['link', 'set', target.port, 'up']),
  },
  latency: { inject: (target, { ms = 200, lossPercent = 0 }) => addLatency(target, ms, lossPercent), revert: removeLatency },
  'changed-host-key': {
    inject: async (target) => {
      const key = newKeyPair(target.name)
      const saveOriginal = `cd /etc/ssh; [ -e original.pub ] || { cp -p ssh_host_ed25519_key original; cp ssh_host_ed25519_key.pub original.pub; }`
      await script(
        target,
        `${saveOriginal}; printf %s "$1" > ssh_host_ed25519_key; echo "$2" > ssh_host_ed25519_key.pub; ${restart}`,
        key.private,
        key.public,
      )
    },
    revert: (target) =>
      script(
        target,
        `cd /etc/ssh; [ ! -e original.pub ] || { mv original ssh_host_ed25519_key; mv original.pub ssh_host_ed25519_key.pub; ${restart}; }`,
      ),
  },
  // Sets the size limit to the used size, which needs no writes.
  'full-disk': {
    inject: async (target) => {
      const used = await runChecked([
        'nsenter',
        '--target',
        String(target.supervisor),
        '--mount',
        'df',
        '--output=used',
        '-B1',
        `/run/lab/nodes/${target.name}/disk`,
      ])
      await remount(target, `size=${Math.max(4096, Number(used.trim().split('\n').at(-1)))}`)
    },
    revert: (target) => remount(target, diskOptions),
  },
  'endless-output': toolFault(toolScripts['endless-output']),
  'hung-tool': toolFault(toolScripts['hung-tool']),
  'flood-tool': toolFault(toolScripts['flood-tool']),
  'truncated-output': toolFault(toolScripts['truncated-output']),
  // sshd runs this file before every command, for every shell.
  'slow-shell': {
    inject: (target, { seconds = 5 }) => script(target, 'echo "sleep $1" > /etc/ssh/sshrc', String(Number(seconds))),
    revert: (target) => script(target, 'rm -f /etc/ssh/sshrc'),
  },
  // The kernel still completes TCP handshakes for a stopped process.
  tarpit: {
    inject: (target) => script(target, 'kill -STOP "$(cat /run/sshd.pid)"'),
    revert: (target) => script(target, 'if [ -s /run/sshd.pid ]; then kill -CONT "$(cat /run/sshd.pid)"; fi'),
  },
  'port-closed': { inject: (target) => script(target, stopListener), revert: (target) => script(target, startListener) },
  'sshd-stop': {
    inject: (target) => script(target, `${killSessions}; ${stopListener}`),
    revert: (target) => script(target, startListener),
  },
  reboot: {
    inject: async (target, { downMs = 0 }) => {
      await writeFile(path.join(target.dir, 'hold'), downMs > 0 ? String(downMs / 1000) : '')
      await killNode(target, 'HUP')
    },
  },
  'power-off': {
    inject: (target) => killNode(target, 'INT'),
    revert: async (target) => {
      if (await isOff(target)) await writeFile(path.join(target.dir, 'power'), '')
    },
  },
  'no-python': {
    inject: (target) =>
      script(target, 'mkdir -p /usr/lib/lab/python; mv /usr/bin/python* /usr/lib/lab/python/ 2>/dev/null || true'),
    revert: (target) =>
      script(target, '[ ! -d /usr/lib/lab/python ] || { mv /usr/lib/lab/python/* /usr/bin/; rmdir /usr/lib/lab/python; }'),
  },
  // The last matching rule in sudoers applies.
  'sudo-denied': {
    inject: (target) =>
      script(target, 'umask 337; rm -f /etc/sudoers.d/zz-denied; echo "ALL,!root ALL=(ALL:ALL) !ALL" > /etc/sudoers.d/zz-denied'),
    revert: (target) => script(target, 'rm -f /etc/sudoers.d/zz-denied'),
  },
  'controller-stop': slurmFault('controller-stop'),
  'controller-freeze': slurmFault('controller-freeze'),
  'wrong-munge-key': slurmFault('wrong-munge-key'),
  'clock-skew': slurmFault('clock-skew'),
  'broken-slurm-conf': slurmFault('broken-slurm-conf'),
}

/** Whether a node is neither running nor booting. */
async function isOff(target: FaultTarget): Promise<boolean> {
  const pid = await readFile(path.join(target.dir, 'pid'), 'utf8').catch(() => '')
  return !existsSync(`/proc/${Number(pid)}`) && !existsSync(path.join(target.dir, 'power'))
}
