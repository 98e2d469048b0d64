import { fileURLToPath } from 'node:url'
import { capture, must } from '../commands.ts'
import type { Place } from './faults.ts'
import { labIp } from './network.ts'

/** Delays what the node sends and receives by `ms` one way, and loses that share of the packets. */
export async function slowDown(at: Place, ms: number, lossPercent: number): Promise<void> {
  await speedUp(at)
  const rule = ['netem', 'delay', `${Number(ms)}ms`, 'loss', `${Number(lossPercent)}%`, 'limit', '10000']
  const enter = ['nsenter', '--target', String(at.keeper), '--mount', '--net']
  const inside = at.netns ? ['ip', 'netns', 'exec', at.netns] : []
  const netem = await capture([...enter, ...inside, 'tc', 'qdisc', 'add', 'dev', at.port, 'root', ...rule])
  if (netem.code === 0) {
    // The other direction is shaped on the node's own end of the cable.
    await must([...enter, 'ip', 'netns', 'exec', at.name, 'tc', 'qdisc', 'add', 'dev', 'eth0', 'root', ...rule])
    return
  }
  // Kernels without netem: a relay in user space is spliced into the cable between the port and the switch.
  const [near, far] = [`${at.port}n`, `${at.port}f`]
  await labIp(at.keeper, at.netns, ['link', 'add', near, 'type', 'veth', 'peer', 'name', far])
  await labIp(at.keeper, at.netns, ['link', 'set', at.port, 'nomaster'])
  await labIp(at.keeper, at.netns, ['link', 'set', far, 'master', at.bridge, 'up'])
  await labIp(at.keeper, at.netns, ['link', 'set', near, 'up'])
  const relay = fileURLToPath(new URL('slow-wire.py', import.meta.url))
  // In the lab's pid namespace, so that it dies with the lab whoever started it; it ends by itself when its link goes.
  const spaces = [
    'nsenter',
    `--pid=/proc/${at.keeper}/ns/pid_for_children`,
    `--mount=/proc/${at.keeper}/ns/mnt`,
    `--net=/proc/${at.keeper}/ns/net`,
  ]
  await must([...spaces, ...inside, '/usr/bin/python3', relay, at.port, near, String(Number(ms)), String(Number(lossPercent))])
}

/** Takes delay and loss away. */
export async function speedUp(at: Place): Promise<void> {
  const links = await labIp(at.keeper, at.netns, ['-o', 'link', 'show'])
  if (links.includes(` ${at.port}n@`)) {
    await labIp(at.keeper, at.netns, ['link', 'del', `${at.port}n`])
    await labIp(at.keeper, at.netns, ['link', 'set', at.port, 'master', at.bridge, 'up'])
  }
  const enter = ['nsenter', '--target', String(at.keeper), '--mount', '--net']
  const inside = at.netns ? ['ip', 'netns', 'exec', at.netns] : []
  // tc fails when there is nothing to delete.
  await capture([...enter, ...inside, 'tc', 'qdisc', 'del', 'dev', at.port, 'root'])
  await capture([...enter, 'ip', 'netns', 'exec', at.name, 'tc', 'qdisc', 'del', 'dev', 'eth0', 'root'])
}
