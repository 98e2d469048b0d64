import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findSchedule } from './fields.ts'

const RUN = graphql(`mutation ScheduleRun($id: ID!, $idempotencyKey: String) {
  runSchedule(input: { id: $id, idempotencyKey: $idempotencyKey }) { __typename ... on RunSchedulePayload { firing { discoveryCount message run { number } } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
}`)

export const scheduleRun = () =>
  new Command('run')
    .description('start a schedule now, with your permissions; blackouts and jitter do not apply')
    .argument('<name>')
    .option('--idempotency-key <key>', 'a repeated key returns the same run instead of starting another')
    .action(async (name: string, { idempotencyKey }: { idempotencyKey?: string }) => {
      const { runSchedule } = await request(RUN, {
        id: (await findSchedule(name)).id,
        ...(idempotencyKey ? { idempotencyKey } : {}),
      })
      const { run, discoveryCount, message } = orThrow(runSchedule).firing
      process.stderr.write(run ? `Started run #${run.number}.\n` : `Started ${discoveryCount} discoveries.\n`)
      if (message) process.stderr.write(`${message}\n`)
    })
