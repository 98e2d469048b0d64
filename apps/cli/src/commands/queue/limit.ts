import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'

export const queueLimit = () =>
  new Command('limit')
    .description('say how many runs may go on at once, over all workers')
    .argument('<number>', 'a number, or none', (text) => (text === 'none' ? null : integer(text)))
    .action(async (runsAtOnce: number | null) => {
      const { setRunsAtOnce } = await request(
        graphql(`mutation QueueLimit($runsAtOnce: Int) {
          setRunsAtOnce(runsAtOnce: $runsAtOnce) { __typename ... on QueueState { runsAtOnce } ... on Error { code message } }
        }`),
        { runsAtOnce },
      )
      const now = orThrow(setRunsAtOnce).runsAtOnce
      process.stderr.write(now === null ? 'As many go on as workers have room for.\n' : `At most ${now} go on at once.\n`)
    })
