import { Command, InvalidArgumentError } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialIdIfGiven, nodeIds, noNode } from '../../ids.ts'
import { given, integer, oneOf, orNull } from '../../options.ts'
import { eachNode } from './each.ts'

type Options = {
  name?: string
  displayName?: string
  host?: string
  port?: number
  user?: string
  credential?: string
  become?: string
  bastion?: string
  type?: 'COMPUTE' | 'CONTROLLER' | 'LOGIN' | 'STORAGE' | 'OTHER'
  notes?: string
  tag?: string[]
  untag?: string[]
  label?: [string, string][]
}

export const nodeUpdate = () =>
  new Command('update')
    .description("change nodes; an option given as '' takes away")
    .argument('<hostlist>', 'nodes, for example gpu[01-08]')
    .option('--name <name>', 'another name')
    .option('--display-name <text>', 'a name for people')
    .option('--host <address>', 'another address; its host key has to be approved anew')
    .option('-p, --port <port>', 'SSH port; its host key has to be approved anew', integer)
    .option('-u, --user <user>', 'SSH user')
    .option('-c, --credential <name>', 'SSH key or password to log in with')
    .option('--become <name>', 'credential to become root with')
    .option('--bastion <name>', 'bastion credential to go through')
    .option(
      '--type <type>',
      'COMPUTE, CONTROLLER, LOGIN, STORAGE or OTHER',
      oneOf('COMPUTE', 'CONTROLLER', 'LOGIN', 'STORAGE', 'OTHER'),
    )
    .option('--notes <text>', 'free text')
    .option('--tag <tag...>', 'tags that they get besides those they have')
    .option('--untag <tag...>', 'tags that they lose')
    .option('--label <key=value...>', 'labels that they get besides those they have; `key=` takes one away', label)
    .action(async (hostlist: string, options: Options) => {
      if (Object.keys(options).length === 0) throw new CliError('Say what to change; see --help.', EXIT.usage)
      if (options.name !== undefined || options.host !== undefined) {
        const { length } = await nodeIds(hostlist)
        if (length > 1) throw new CliError(`A name and an address are one node's; ${hostlist} are ${length}.`, EXIT.usage)
      }
      const common = await fields(options)
      await eachNode(
        hostlist,
        async ({ id, name }) => {
          const { updateNode } = await request(
            graphql(`mutation NodeUpdate($input: UpdateNodeInput!) {
              updateNode(input: $input) {
                __typename ... on ComputeNode { status } ... on Error { code message } ... on InvalidInputError { issues { path message } }
              }
            }`),
            { input: { id, ...common, ...(await words(name, options)) } },
          )
          return updateNode
        },
        (node) => `changed, ${node.status}`,
      )
    })

function label(text: string, before: [string, string][] = []): [string, string][] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (key === undefined) throw new InvalidArgumentError('It must be key=value.')
  return [...before, [key, value!]]
}

/** What is the same for all of the nodes. */
async function fields({ name, displayName, host, port, user, credential, become, bastion, type, notes }: Options) {
  return given({
    name,
    displayName: orNull(displayName),
    host,
    port,
    sshUser: orNull(user),
    credentialId: await credentialIdIfGiven(credential),
    becomeCredentialId: await credentialIdIfGiven(become),
    bastionId: await credentialIdIfGiven(bastion),
    nodeType: type,
    notes,
  })
}

/** The tags and labels that a node then has, as far as any are given or taken away. */
async function words(name: string, { tag = [], untag = [], label = [] }: Options) {
  if (tag.length + untag.length + label.length === 0) return {}
  const { computeNode: node } = await request(
    graphql(`query NodeWords($name: String!) { computeNode(name: $name) { tags labels } }`),
    { name },
  )
  if (!node) throw noNode(name)
  const kept = Object.entries(node.labels as Record<string, string>).filter(([key]) => !label.some(([given]) => given === key))
  const labels = Object.fromEntries([...kept, ...label.filter(([, value]) => value !== '')])
  return {
    ...(tag.length + untag.length === 0 ? {} : { tags: [...node.tags, ...tag].filter((each) => !untag.includes(each)) }),
    ...(label.length === 0 ? {} : { labels }),
  }
}
