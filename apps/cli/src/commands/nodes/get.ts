import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { nodeNotFound } from '../../lookup.ts'
import { ago, bytes, isTable, printObject, printRows } from '../../output.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'

export const nodeGet = () =>
  new Command('get')
    .description('show nodes with their accelerators; -o json prints an object for one name, otherwise a list')
    .argument('<selector...>', SELECTOR_HELP)
    .withOutput()
    .action(async (selectors: string[], output: Output) => {
      const nodes: Node[] = []
      for (const { name } of await selectNodes(selectors.join(','))) nodes.push(await fetchNode(name))
      const isOne = selectors.length === 1 && nodes[0]!.name === selectors[0]
      if (output.output === 'name') return printRows(nodes, [{ title: 'NAME', value: (node) => node.name }], output)
      if (!isTable(output)) return printObject(isOne ? nodes[0]! : nodes, output)
      for (const [i, node] of nodes.entries()) {
        if (i > 0) process.stdout.write('\n')
        printNode(node, output)
      }
    })

type Node = Awaited<ReturnType<typeof fetchNode>>

async function fetchNode(name: string) {
  const { computeNode: node } = await request(
    graphql(`query NodeGet($name: String!) {
      computeNode(name: $name) {
        id name displayName host port connectionType sshUser status statusReason maintenanceEndsAt maintenanceStartedByName health { status reason } nodeType region datacenter rack rackPosition xname xnameRejections nid managementIp interfaces { name mac isBoot addresses { address network } } bootMac bmcXname bmc { address port mac protocol conflicts fingerprint caCertificate systemPath credential { name } } tags labels { key value } notes arch os { name } kernel cpu { model sockets cores threads } memoryBytes
        bootedAt lastSeenAt discoveredAt hostKeyFingerprint hostKeyAlarm { offeredFingerprint approvedFingerprint isChanged }
        credential { name } becomeCredential { name } bastion { name } groups { name } slurmState { state source observedAt } slurmNodes { name state reason cluster { name } } lock { acquiredAt expiresAt run { id number templateName createdBy { name } } }
        accelerators {
          index deviceType vendor model uuid serial slot pciAddress numaNode interconnect memoryTotalBytes memoryUsedBytes driverVersion firmwareVersion toolkitVersion
          computeCapability partitionMode isEccEnabled eccErrors { correctedVolatile uncorrectedVolatile correctedAggregate uncorrectedAggregate } temperatureCelsius powerWatts utilizationPercent health healthReason confidence partitions { kind profile }
        }
      }
    }`),
    { name },
  )
  if (!node) throw nodeNotFound(name)
  return node
}

function printNode(node: Node, output: Output): void {
  printObject(node, output, [
    ['name', node.name],
    ['status', node.statusReason ? `${node.status}: ${node.statusReason}` : node.status],
    ['maintenance until', node.maintenanceEndsAt],
    ['maintenance by', node.maintenanceStartedByName],
    ['health', node.health.reason ? `${node.health.status}: ${node.health.reason}` : node.health.status],
    [
      'address',
      node.connectionType === 'LOCAL' ? 'local' : `${node.sshUser ? `${node.sshUser}@` : ''}${node.host} port ${node.port}`,
    ],
    ['location', [node.region, node.datacenter, node.rack, node.rackPosition].filter(Boolean).join(', ')],
    ['xname', [node.xname, ...node.xnameRejections.map((rejection) => `rejected by ${rejection}`)].filter(Boolean).join('; ')],
    ['nid', node.nid],
    ['management', node.managementIp],
    ...node.interfaces.map((each): [string, string] => ['interface', formatInterface(each)]),
    ...(node.bmc ? [['bmc', formatBmc(node.bmc, node.bmcXname)] as [string, string]] : []),
    ...(node.bmc?.conflicts ?? []).map((conflict): [string, string] => ['bmc conflict', conflict]),
    ['bastion', node.bastion?.name],
    ['credential', node.credential?.name],
    ['become', node.becomeCredential?.name],
    ['host key', node.hostKeyFingerprint],
    ...(node.hostKeyAlarm ? [hostKeyField(node.name, node.hostKeyAlarm)] : []),
    ['groups', node.groups.map((g) => g.name).join(', ')],
    ['tags', node.tags.join(', ')],
    ['labels', node.labels.map(({ key, value }) => `${key}=${value}`).join(', ')],
    ...slurmFields(node),
    ...(node.lock ? [lockField(node.lock)] : []),
    ['os', [node.os?.name, node.kernel, node.arch].filter(Boolean).join(', ')],
    ['cpu', node.cpu && `${node.cpu.sockets} x ${node.cpu.model}, ${node.cpu.cores} cores, ${node.cpu.threads} threads`],
    ['memory', bytes(node.memoryBytes)],
    ['booted', ago(node.bootedAt)],
    ['last seen', ago(node.lastSeenAt)],
    ['notes', node.notes],
  ])
  if (node.accelerators.length === 0) return
  process.stdout.write('\n')
  printRows(
    node.accelerators,
    [
      { title: '#', value: (a) => a.index },
      { title: 'MODEL', value: (a) => a.model ?? a.deviceType },
      { title: 'HEALTH', value: (a) => (a.healthReason ? `${a.health}: ${a.healthReason}` : a.health) },
      {
        title: 'MEMORY',
        value: (a) =>
          a.memoryUsedBytes === null ? bytes(a.memoryTotalBytes) : `${bytes(a.memoryUsedBytes)} of ${bytes(a.memoryTotalBytes)}`,
      },
      { title: '°C', value: (a) => a.temperatureCelsius },
      { title: 'W', value: (a) => a.powerWatts },
      { title: '%', value: (a) => a.utilizationPercent },
      { title: 'PARTITIONS', value: (a) => countNames(a.partitions.map((p) => p.profile ?? p.kind)) },
      { title: 'PCI', value: (a) => a.pciAddress, wide: true },
      { title: 'DRIVER', value: (a) => a.driverVersion, wide: true },
      { title: 'FIRMWARE', value: (a) => a.firmwareVersion, wide: true },
      { title: 'TOOLKIT', value: (a) => a.toolkitVersion, wide: true },
      { title: 'NUMA', value: (a) => a.numaNode, wide: true },
      { title: 'SERIAL', value: (a) => a.serial, wide: true },
      { title: 'ECC', value: (a) => (a.isEccEnabled === null ? null : a.isEccEnabled ? 'enabled' : 'disabled'), wide: true },
    ],
    output,
  )
}

/** Its nodes in Slurm clusters; while the data of the cluster is old, also the state that the agent reports. */
const slurmFields = ({ slurmNodes, slurmState }: Node): [string, string][] => [
  ...slurmNodes.map(({ name, state, reason, cluster }): [string, string] => [
    'slurm',
    `${name} in ${cluster.name}: ${state}${reason ? `, ${reason}` : ''}`,
  ]),
  ...(slurmState?.source === 'AGENT'
    ? ([['slurm state', `${slurmState.state}, reported by the agent ${ago(slurmState.observedAt)}`]] as [string, string][])
    : []),
]

const formatBmc = ({ address, port, mac, protocol, ...bmc }: NonNullable<Node['bmc']>, xname: string | null): string =>
  [
    `${address} port ${port}, ${protocol}, credential ${bmc.credential.name}`,
    ...(xname ? [xname] : []),
    ...(mac ? [mac] : []),
    ...(bmc.systemPath ? [bmc.systemPath] : []),
    ...(protocol === 'IPMI'
      ? []
      : [bmc.fingerprint ? `certificate ${bmc.fingerprint}` : bmc.caCertificate ? 'own CA' : 'CAs of the installation']),
  ].join(', ')

/** As `node update --interface` takes it. */
const formatInterface = ({ name, mac, addresses, isBoot }: Node['interfaces'][number]): string =>
  [
    `${name}=${mac}`,
    ...addresses.map((a) => (a.network ? `${a.address}@${a.network}` : a.address)),
    ...(isBoot ? ['boot'] : []),
  ].join(',')

const lockField = (lock: NonNullable<Node['lock']>): [string, string] => [
  'locked by',
  `${lock.run.templateName} ${lock.run.number} of ${lock.run.createdBy.name}, since ${ago(lock.acquiredAt)}; expires ${lock.expiresAt} without its worker`,
]

const hostKeyField = (name: string, key: { offeredFingerprint: string; isChanged: boolean }): [string, string] => [
  key.isChanged ? 'HOST KEY CHANGED' : 'offered key',
  `${key.offeredFingerprint}; compare it, then run \`muster node approve ${name} FINGERPRINT\``,
]

/** `7x 1g.10gb, 2x 2g.20gb`. */
function countNames(names: string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${count}x ${name}`).join(', ')
}
