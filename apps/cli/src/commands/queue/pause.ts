import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'

export const queuePause = () =>
  new Command('pause')
    .description('let no run begin; those under way go on')
    .requiredOption('--reason <text>', 'why; whoever waits reads it')
    .action(async ({ reason }: { reason: string }) => {
      const { pauseQueue } = await request(
        graphql(`mutation QueuePause($reason: String!) {
          pauseQueue(reason: $reason) { __typename ... on QueueState { pending running } ... on Error { code message } }
        }`),
        { reason },
      )
      const { pending, running } = orThrow(pauseQueue)
      process.stderr.write(`Paused. ${running} go on, ${pending} wait. \`muster queue resume\` lets them begin.\n`)
    })
