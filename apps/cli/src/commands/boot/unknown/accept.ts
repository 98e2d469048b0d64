import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { selectNode } from '../../../selector.ts'
import { findMachine } from './list.ts'

type Options = { name?: string; host?: string; node?: string }

export const unknownAccept = () =>
  new Command('accept')
    .description('make an unknown machine a node')
    .argument('<mac>', 'MAC address of the machine')
    .option('--name <name>', 'name of a new node')
    .option('--host <host>', 'host name or address of the new node (default: its name)')
    .option('--node <selector>', 'an existing node, which gets the interfaces of the machine')
    .action(async (mac: string, { name, host, node }: Options) => {
      if ((name === undefined) === (node === undefined))
        throw new CliError('Give either --name for a new node, or --node for an existing one.', EXIT.usage)
      const nodeId = node === undefined ? null : (await selectNode(node)).id
      const machine = await findMachine(mac)
      const { acceptUnknownMachine } = await request(
        graphql(`mutation AcceptUnknownMachine($input: AcceptUnknownMachineInput!) {
          acceptUnknownMachine(input: $input) {
            __typename ... on AcceptUnknownMachinePayload { unknownMachine { mac node { name } } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { id: machine.id, nodeId, name: name ?? null, host: host ?? null } },
      )
      const { unknownMachine } = orThrow(acceptUnknownMachine)
      process.stderr.write(`${unknownMachine.mac} is ${unknownMachine.node?.name} now. It boots when it asks again.\n`)
    })
