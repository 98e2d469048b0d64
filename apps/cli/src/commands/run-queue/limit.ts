import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'

export const queueLimit = () =>
  new Command('limit')
    .description('set the maximum number of concurrent runs over all workers')
    .argument('<number>', 'number, or none', (text) => (text === 'none' ? null : integer(text)))
    .action(async (maxConcurrentRuns: number | null) => {
      const { setMaxConcurrentRuns } = await request(
        graphql(`mutation QueueLimit($maxConcurrentRuns: Int) {
          setMaxConcurrentRuns(input: { maxConcurrentRuns: $maxConcurrentRuns }) { __typename ... on SetMaxConcurrentRunsPayload { queue { maxConcurrentRuns } } ... on Error { code message } }
        }`),
        { maxConcurrentRuns },
      )
      const now = orThrow(setMaxConcurrentRuns).queue.maxConcurrentRuns
      process.stderr.write(now === null ? 'No limit; worker capacity applies.\n' : `At most ${now} concurrent runs.\n`)
    })
