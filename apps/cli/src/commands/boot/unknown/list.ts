import { Option } from 'commander'
import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { ago, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'

const LIST = graphql(`query UnknownMachines($filter: UnknownMachineFilter, $first: Int, $after: String) {
  unknownMachines(filter: $filter, first: $first, after: $after) {
    edges { node { id mac state arch serial systemUuid seenFrom requests firstSeenAt lastSeenAt node { name } rejectedReason } }
    pageInfo { hasNextPage endCursor }
  }
}`)
const STATES = ['NEW', 'ACCEPTED', 'REJECTED'] as const
type State = (typeof STATES)[number]

const machines = (state: State | null) =>
  fetchAll(async (page) => (await request(LIST, { filter: { state }, ...page })).unknownMachines)

/** The machine with this MAC. */
export async function findMachine(mac: string) {
  const digits = (text: string) => text.toLowerCase().replace(/[:.-]/g, '')
  const machine = (await machines(null)).find((each) => digits(each.mac) === digits(mac))
  if (!machine) throw new CliError(`No unknown machine has the MAC ${mac}. See \`muster boot unknown list\`.`, EXIT.notFound)
  return machine
}

export const unknownList = () =>
  new Command('list')
    .description('list machines that asked for a boot script with a MAC that no node has')
    .addOption(new Option('--state <state>', 'only machines with this decision').choices(STATES).default('NEW'))
    .withOutput()
    .action(async ({ state, ...output }: Output & { state: State }) => {
      printRows(
        await machines(state),
        [
          { title: 'MAC', value: (machine) => machine.mac },
          { title: 'STATE', value: (machine) => machine.state },
          { title: 'ARCH', value: (machine) => machine.arch },
          { title: 'SERIAL', value: (machine) => machine.serial },
          { title: 'SEEN', value: (machine) => ago(machine.lastSeenAt) },
          { title: 'REQUESTS', value: (machine) => String(machine.requests) },
          { title: 'NODE', value: (machine) => machine.node?.name },
          { title: 'FROM', value: (machine) => machine.seenFrom, wide: true },
          { title: 'UUID', value: (machine) => machine.systemUuid, wide: true },
        ],
        output,
        `No machines are ${state}.`,
      )
    })
