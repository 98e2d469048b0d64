import { fileURLToPath } from 'node:url'
import { capture, runChecked } from '../commands.ts'
import { labIp } from './network.ts'
import type { FaultTarget } from './target.ts'

/** Adds a one-way delay and packet loss in both directions. */
export async function addLatency(target: FaultTarget, ms: number, lossPercent: number): Promise<void> {
  await removeLatency(target)
  const rule = ['netem', 'delay', `${Number(ms)}ms`, 'loss', `${Number(lossPercent)}%`, 'limit', '10000']
  const enter = ['nsenter', '--target', String(target.supervisor), '--mount', '--net']
  const inside = target.netns ? ['ip', 'netns', 'exec', target.netns] : []
  const netem = await capture([...enter, ...inside, 'tc', 'qdisc', 'add', 'dev', target.port, 'root', ...rule])
  if (netem.code === 0) {
    // The other direction is shaped on the node's end of the link.
    await runChecked([...enter, 'ip', 'netns', 'exec', target.name, 'tc', 'qdisc', 'add', 'dev', 'eth0', 'root', ...rule])
    return
  }
  // For kernels without netem: inserts a user-space relay between the port and the bridge.
  const [near, far] = [`${target.port}n`, `${target.port}f`]
  await labIp(target.supervisor, target.netns, ['link', 'add', near, 'type', 'veth', 'peer', 'name', far])
  await labIp(target.supervisor, target.netns, ['link', 'set', target.port, 'nomaster'])
  await labIp(target.supervisor, target.netns, ['link', 'set', far, 'master', target.bridge, 'up'])
  await labIp(target.supervisor, target.netns, ['link', 'set', near, 'up'])
  const relay = fileURLToPath(new URL('delay-relay.py', import.meta.url))
  // In the lab's pid namespace, so that it ends with the lab. It exits by itself when its link is deleted.
  const spaces = [
    'nsenter',
    `--pid=/proc/${target.supervisor}/ns/pid_for_children`,
    `--mount=/proc/${target.supervisor}/ns/mnt`,
    `--net=/proc/${target.supervisor}/ns/net`,
  ]
  await runChecked([
    ...spaces,
    ...inside,
    '/usr/bin/python3',
    relay,
    target.port,
    near,
    String(Number(ms)),
    String(Number(lossPercent)),
  ])
}

/** Removes delay and packet loss. */
export async function removeLatency(target: FaultTarget): Promise<void> {
  const links = await labIp(target.supervisor, target.netns, ['-o', 'link', 'show'])
  if (links.includes(` ${target.port}n@`)) {
    await labIp(target.supervisor, target.netns, ['link', 'del', `${target.port}n`])
    await labIp(target.supervisor, target.netns, ['link', 'set', target.port, 'master', target.bridge, 'up'])
  }
  const enter = ['nsenter', '--target', String(target.supervisor), '--mount', '--net']
  const inside = target.netns ? ['ip', 'netns', 'exec', target.netns] : []
  // Ignores errors: tc fails when there is nothing to delete.
  await capture([...enter, ...inside, 'tc', 'qdisc', 'del', 'dev', target.port, 'root'])
  await capture([...enter, 'ip', 'netns', 'exec', target.name, 'tc', 'qdisc', 'del', 'dev', 'eth0', 'root'])
}
