import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'

export const queueResume = () =>
  new Command('resume').description('resume the queue: pending runs start again').action(async () => {
    const { resumeQueue } = await request(
      graphql(`mutation QueueResume {
        resumeQueue { __typename ... on ResumeQueuePayload { queue { pendingCount } } ... on Error { code message } }
      }`),
      {},
    )
    process.stderr.write(`Resumed: ${orThrow(resumeQueue).queue.pendingCount} pending.\n`)
  })
