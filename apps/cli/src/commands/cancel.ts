import { Command } from 'commander'
import { request } from '../client.ts'
import { orThrow } from '../errors.ts'
import { graphql } from '../graphql.ts'
import { runId } from '../ids.ts'

export const cancel = () =>
  new Command('cancel')
    .description('ask a run to stop')
    .argument('<run>', 'id of the run, or `last`')
    .action(async (id: string) => {
      const { cancelJobRun } = await request(
        graphql(
          `mutation Cancel($id: ID!) { cancelJobRun(id: $id) { __typename ... on JobRun { status } ... on Error { code message } } }`,
        ),
        { id: await runId(id) },
      )
      process.stderr.write(`${orThrow(cancelJobRun).status}\n`)
    })
