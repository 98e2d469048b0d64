import { InvalidArgumentError } from 'commander'
import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeNotFound, optionalCredentialId } from '../../lookup.ts'
import { allowEmpty, emptyToNull, integer, omitUndefined, oneOf } from '../../options.ts'
import { SELECTOR_HELP, selectNode, selectNodes } from '../../selector.ts'
import { NODE_TYPES } from './add.ts'
import { forEachNode } from './for-each-node.ts'

type Options = {
  name?: string
  displayName?: string
  host?: string
  port?: number
  user?: string
  credential?: string
  become?: string
  bastion?: string
  type?: (typeof NODE_TYPES)[number]
  connection?: 'SSH' | 'LOCAL'
  region?: string
  datacenter?: string
  rack?: string
  rackPosition?: string
  xname?: string
  nid?: number | ''
  managementIp?: string
  interface?: Interface[]
  notes?: string
  tag?: string[]
  untag?: string[]
  label?: [string, string][]
}

export const nodeUpdate = () =>
  new Command('update')
    .description("change nodes; '' clears a field")
    .argument('<selector>', SELECTOR_HELP)
    .option('--name <name>', 'new name, for one node')
    .option('--display-name <text>', 'display name')
    .option('--host <address>', 'new address, for one node; its host key must be approved again')
    .option('-p, --port <port>', 'SSH port; the host key must be approved again', integer)
    .option('-u, --user <user>', 'SSH user')
    .option('-c, --credential <name>', 'credential with the SSH key or password')
    .option('--become <name>', 'BECOME credential')
    .option('--bastion <name>', 'BASTION credential to connect through')
    .option('--type <type>', NODE_TYPES.join(', '), oneOf(...NODE_TYPES))
    .option('--connection <type>', "ssh or local; local is the worker's own machine and requires an admin", oneOf('SSH', 'LOCAL'))
    .option('--region <region>', 'region')
    .option('--datacenter <name>', 'data center')
    .option('--rack <rack>', 'rack')
    .option('--rack-position <position>', 'position in the rack, such as U07')
    .option('--xname <xname>', 'location name such as x1000c0s3b0n1, for one node')
    .option('--nid <number>', 'node ID of the boot service, for one node', allowEmpty(nid))
    .option('--management-ip <address>', 'address in the management network, for one node')
    .option(
      '--interface <interface...>',
      'all interfaces as NAME=MAC[,ADDRESS[@NETWORK]…][,boot], for one node; an empty one clears them',
      addInterface,
    )
    .option('--notes <text>', 'free text')
    .option('--tag <tag...>', 'tags to add')
    .option('--untag <tag...>', 'tags to remove')
    .option('--label <key=value...>', 'labels to set; `key=` removes one', label)
    .action(async (selector: string, options: Options) => {
      if (Object.keys(options).length === 0) throw new CliError('Specify at least one option; see --help.', EXIT.usage)
      const isForOne = FOR_ONE.some((option) => options[option] !== undefined && options[option] !== '')
      const nodes = isForOne ? [await selectNode(selector)] : await selectNodes(selector)
      const common = await fields(options)
      await forEachNode(
        nodes,
        async ({ id, name }) => {
          const { updateNode } = await request(
            graphql(`mutation NodeUpdate($input: UpdateNodeInput!) {
              updateNode(input: $input) {
                __typename ... on UpdateNodePayload { node { status } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
              }
            }`),
            { input: { id, ...common, ...(await tagsAndLabels(name, options)) } },
          )
          return updateNode
        },
        ({ node }) => `updated, ${node.status}`,
      )
    })

/** Options whose value only one node can have. */
const FOR_ONE = ['name', 'host', 'xname', 'nid', 'managementIp', 'interface'] as const

function nid(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

function label(text: string, before: [string, string][] = []): [string, string][] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (key === undefined) throw new InvalidArgumentError('It must be key=value.')
  return [...before, [key, value!]]
}

type Interface = { name: string; mac: string; isBoot: boolean; addresses: { address: string; network: string | null }[] }

/** Parses `eth0=02:00:5e:10:00:ff,10.0.0.1@mgmt,boot`. */
function addInterface(text: string, before: Interface[] = []): Interface[] {
  if (text === '') return before
  const [, name, mac, rest = ''] = /^([^=,]+)=([^,]+)(?:,(.*))?$/s.exec(text) ?? []
  if (name === undefined || mac === undefined) throw new InvalidArgumentError('It must be NAME=MAC[,ADDRESS[@NETWORK]…][,boot].')
  const parts = rest.split(',').filter((part) => part !== '')
  const addresses = parts
    .filter((part) => part !== 'boot')
    .map((part) => {
      const [address = '', network] = part.split('@')
      return { address, network: network ?? null }
    })
  return [...before, { name, mac, isBoot: parts.includes('boot'), addresses }]
}

/** Input fields that are equal for all nodes. */
async function fields(options: Options) {
  const { name, displayName, host, port, user, credential, become, bastion, type, connection, notes } = options
  const { region, datacenter, rack, rackPosition, xname, nid, managementIp, interface: interfaces } = options
  return omitUndefined({
    name,
    displayName: emptyToNull(displayName),
    host,
    port,
    sshUser: emptyToNull(user),
    credentialId: await optionalCredentialId(credential),
    becomeCredentialId: await optionalCredentialId(become),
    bastionId: await optionalCredentialId(bastion),
    nodeType: type,
    connectionType: connection,
    region: emptyToNull(region),
    datacenter: emptyToNull(datacenter),
    rack: emptyToNull(rack),
    rackPosition: emptyToNull(rackPosition),
    xname: emptyToNull(xname),
    nid: emptyToNull(nid),
    managementIp: emptyToNull(managementIp),
    interfaces,
    notes,
  })
}

/** New tags and labels of a node, if they change. */
async function tagsAndLabels(name: string, { tag = [], untag = [], label = [] }: Options) {
  if (tag.length + untag.length + label.length === 0) return {}
  const { computeNode: node } = await request(
    graphql(`query NodeTagsAndLabels($name: String!) { computeNode(name: $name) { tags labels { key value } } }`),
    { name },
  )
  if (!node) throw nodeNotFound(name)
  const kept = node.labels.filter(({ key }) => !label.some(([changed]) => changed === key))
  const set = new Map(label.filter(([, value]) => value !== ''))
  const labels = [...kept.map(({ key, value }) => ({ key, value })), ...[...set].map(([key, value]) => ({ key, value }))]
  return {
    ...(tag.length + untag.length === 0 ? {} : { tags: [...node.tags, ...tag].filter((each) => !untag.includes(each)) }),
    ...(label.length === 0 ? {} : { labels }),
  }
}
