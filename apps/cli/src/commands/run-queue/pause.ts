import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { count } from '../../output.ts'

export const queuePause = () =>
  new Command('pause')
    .description('pause the queue: no further runs start; active runs continue')
    .requiredOption('--reason <text>', 'reason, shown with pending runs')
    .action(async ({ reason }: { reason: string }) => {
      const { pauseQueue } = await request(
        graphql(`mutation QueuePause($reason: String!) {
          pauseQueue(input: { reason: $reason }) { __typename ... on PauseQueuePayload { queue { pendingCount runningCount } } ... on Error { code message } }
        }`),
        { reason },
      )
      const { pendingCount, runningCount } = orThrow(pauseQueue).queue
      process.stderr.write(
        `Paused: ${count(runningCount, 'active run')}, ${pendingCount} pending. Continue with \`muster queue resume\`.\n`,
      )
    })
