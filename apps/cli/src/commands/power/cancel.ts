import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'

export const powerCancel = () =>
  new Command('cancel')
    .description('cancel a power run: no further command is sent')
    .argument('<id>', 'ID of the power run, from `muster power list`')
    .action(async (id: string) => {
      const { cancelPowerRun } = await request(
        graphql(`mutation PowerRunCancel($input: CancelPowerRunInput!) {
          cancelPowerRun(input: $input) {
            __typename ... on CancelPowerRunPayload { powerRun { status } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { id } },
      )
      process.stdout.write(`${orThrow(cancelPowerRun).powerRun.status}\n`)
    })
