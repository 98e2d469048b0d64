import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'

export const queueResume = () =>
  new Command('resume').description('let runs begin again').action(async () => {
    const { resumeQueue } = await request(
      graphql(`mutation QueueResume {
        resumeQueue { __typename ... on QueueState { pending } ... on Error { code message } }
      }`),
      {},
    )
    process.stderr.write(`Resumed. ${orThrow(resumeQueue).pending} waited.\n`)
  })
