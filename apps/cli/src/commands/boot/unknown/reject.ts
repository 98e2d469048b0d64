import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { findMachine } from './list.ts'

export const unknownReject = () =>
  new Command('reject')
    .description('reject an unknown machine: it boots from its own disk')
    .argument('<mac>', 'MAC address of the machine')
    .option('--reason <text>', 'reason, shown with the machine')
    .action(async (mac: string, { reason }: { reason?: string }) => {
      const machine = await findMachine(mac)
      const { rejectUnknownMachine } = await request(
        graphql(`mutation RejectUnknownMachine($id: ID!, $reason: String) {
          rejectUnknownMachine(input: { id: $id, reason: $reason }) {
            __typename ... on RejectUnknownMachinePayload { unknownMachine { mac } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id: machine.id, reason: reason ?? null },
      )
      process.stderr.write(`Rejected ${orThrow(rejectUnknownMachine).unknownMachine.mac}.\n`)
    })
