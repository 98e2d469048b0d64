import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { bareId, nodeIds, noNode } from '../../ids.ts'
import { ago, bytes, type Format, outputOption, printObject, printRows } from '../../output.ts'

export const nodeGet = () =>
  new Command('get')
    .description('nodes with their accelerators; of one name JSON is an object, else a list')
    .argument('<names...>', 'names and hostlists, for example gpu[01-08] cpu01')
    .addOption(outputOption())
    .action(async (names: string[], { output }: { output: Format }) => {
      const nodes: Node[] = []
      for (const { name } of await nodeIds(names.join(','))) nodes.push(await nodeOf(name))
      const isOne = names.length === 1 && nodes[0]!.name === names[0]
      if (output !== 'table') return printObject(isOne ? nodes[0]! : nodes, output)
      for (const [i, node] of nodes.entries()) {
        if (i > 0) process.stdout.write('\n')
        printNode(node)
      }
    })

type Node = Awaited<ReturnType<typeof nodeOf>>

async function nodeOf(name: string) {
  const { computeNode: node } = await request(
    graphql(`query NodeGet($name: String!) {
      computeNode(name: $name) {
        id name displayName host port sshUser status statusReason nodeType tags labels notes arch osName kernel cpuModel cpuSockets cpuCores cpuThreads memoryBytes
        bootedAt lastSeenAt discoveredAt hostKeyFingerprint hostKeyAlarm { offeredFingerprint pinnedFingerprint isChanged }
        credential { name } becomeCredential { name } bastion { name } groups { name } lock { ownerName acquiredAt expiresAt run { id templateName } }
        accelerators { index deviceType vendor model uuid pciAddress memoryTotal memoryUsed driverVersion temperature power utilization health partitions { kind profile } }
      }
    }`),
    { name },
  )
  if (!node) throw noNode(name)
  return node
}

function printNode(node: Node): void {
  const labels = Object.entries(node.labels as Record<string, string>)
  printObject(node, 'table', [
    ['name', node.name],
    ['status', node.statusReason ? `${node.status}: ${node.statusReason}` : node.status],
    ['address', `${node.sshUser ? `${node.sshUser}@` : ''}${node.host} port ${node.port}`],
    ['bastion', node.bastion?.name],
    ['credential', node.credential?.name],
    ['become', node.becomeCredential?.name],
    ['host key', node.hostKeyFingerprint],
    ...(node.hostKeyAlarm ? [alarm(node.name, node.hostKeyAlarm)] : []),
    ['groups', node.groups.map((g) => g.name).join(', ')],
    ['tags', node.tags.join(', ')],
    ['labels', labels.map(([key, value]) => `${key}=${value}`).join(', ')],
    ...(node.lock ? [locked(node.lock)] : []),
    ['os', [node.osName, node.kernel, node.arch].filter(Boolean).join(', ')],
    ['cpu', node.cpuModel && `${node.cpuSockets} x ${node.cpuModel}, ${node.cpuCores} cores, ${node.cpuThreads} threads`],
    ['memory', bytes(node.memoryBytes)],
    ['booted', ago(node.bootedAt)],
    ['seen', ago(node.lastSeenAt)],
    ['notes', node.notes],
  ])
  if (node.accelerators.length === 0) return
  process.stdout.write('\n')
  printRows(
    node.accelerators,
    [
      { title: '#', value: (a) => a.index },
      { title: 'MODEL', value: (a) => a.model ?? a.deviceType },
      { title: 'HEALTH', value: (a) => a.health },
      {
        title: 'MEMORY',
        value: (a) => (a.memoryUsed === null ? bytes(a.memoryTotal) : `${bytes(a.memoryUsed)} of ${bytes(a.memoryTotal)}`),
      },
      { title: '°C', value: (a) => a.temperature },
      { title: 'W', value: (a) => a.power },
      { title: '%', value: (a) => a.utilization },
      { title: 'PARTITIONS', value: (a) => counted(a.partitions.map((p) => p.profile ?? p.kind)) },
      { title: 'PCI', value: (a) => a.pciAddress, spare: true },
      { title: 'DRIVER', value: (a) => a.driverVersion, spare: true },
    ],
    'table',
  )
}

const locked = (lock: NonNullable<Node['lock']>): [string, string] => [
  'changed by',
  `${lock.run.templateName} ${bareId(lock.run.id)} of ${lock.ownerName}, since ${ago(lock.acquiredAt)}; it holds until ${lock.expiresAt} unless its worker is heard`,
]

const alarm = (name: string, key: { offeredFingerprint: string; isChanged: boolean }): [string, string] => [
  key.isChanged ? 'KEY CHANGED' : 'offered key',
  `${key.offeredFingerprint}; compare it, then \`muster node approve ${name} FINGERPRINT\``,
]

/** `7x 1g.10gb, 2x 2g.20gb`. */
function counted(names: string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${count}x ${name}`).join(', ')
}
