import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { ago, printObject } from '../../output.ts'

export const queueStatus = () =>
  new Command('status')
    .description('show whether the queue is paused and how many runs are pending')
    .withOutput()
    .action(async (output: Output) => {
      const { queue } = await request(
        graphql(`query Queue { queue { isPaused pausedAt pausedByName pauseReason maxConcurrentRuns pending running } }`),
        {},
      )
      printObject(queue, output, [
        ['State', queue.isPaused ? `paused ${ago(queue.pausedAt)} by ${queue.pausedByName}: ${queue.pauseReason}` : 'active'],
        ['Pending', queue.pending],
        ['Running', queue.running],
        ['Limit', queue.maxConcurrentRuns ?? 'none'],
      ])
    })
