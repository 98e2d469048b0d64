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
        graphql(
          `query Queue { queue { isPaused pausedAt pausedBy { name } pauseReason maxConcurrentRuns pendingCount runningCount } }`,
        ),
        {},
      )
      printObject(queue, output, [
        ['State', queue.isPaused ? `paused ${ago(queue.pausedAt)} by ${queue.pausedBy?.name}: ${queue.pauseReason}` : 'active'],
        ['Pending', queue.pendingCount],
        ['Running', queue.runningCount],
        ['Limit', queue.maxConcurrentRuns ?? 'none'],
      ])
    })
