import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { RUN_HELP, runId } from '../../run-id.ts'

export const cancel = () =>
  new Command('cancel').argument('<run>', RUN_HELP).action(async (id: string) => {
    const { cancelJobRun } = await request(
      graphql(
        `mutation Cancel($id: ID!) { cancelJobRun(input: { id: $id }) { __typename ... on CancelJobRunPayload { run { status } } ... on Error { code message } } }`,
      ),
      { id: await runId(id) },
    )
    process.stderr.write(`${orThrow(cancelJobRun).run.status}\n`)
  })
