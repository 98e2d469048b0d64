import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { ago, type Format, outputOption, printObject } from '../../output.ts'

export const queueStatus = () =>
  new Command('status')
    .description('whether runs begin, and how many wait')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      const { queue } = await request(
        graphql(`query Queue { queue { isPaused pausedAt pausedByName pauseReason runsAtOnce pending running } }`),
        {},
      )
      printObject(queue, output, [
        ['State', queue.isPaused ? `paused ${ago(queue.pausedAt)} by ${queue.pausedByName}: ${queue.pauseReason}` : 'runs begin'],
        ['Pending', queue.pending],
        ['Running', queue.running],
        ['At once', queue.runsAtOnce ?? 'as many as workers have room for'],
      ])
    })
