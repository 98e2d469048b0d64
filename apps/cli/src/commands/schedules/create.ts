import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { type ScheduleOptions, scheduleFields, withScheduleFields } from './fields.ts'

type Options = ScheduleOptions & { discovery?: true; disabled?: true; idempotencyKey?: string; limit: string; rule: string }

const CREATE = graphql(`mutation ScheduleCreate($input: CreateScheduleInput!) {
  createSchedule(input: $input) { __typename ... on CreateSchedulePayload { schedule { name nextRunAt ruleText } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
}`)

export const scheduleCreate = () =>
  withScheduleFields(
    new Command('create')
      .description('run a template, or discover nodes, at the times of a rule; with your permissions at these times')
      .argument('<name>')
      .option('--discovery', 'discover nodes instead of running a template')
      .option('--disabled', 'create it disabled')
      .option('--idempotency-key <key>', 'a repeated key returns the same schedule instead of creating another'),
  ).action(async (name: string, options: Options) => {
    const { limit = '', rule = '', ...fields } = scheduleFields(options)
    const { createSchedule } = await request(CREATE, {
      input: {
        name,
        limit,
        rule,
        ...fields,
        target: options.discovery ? 'DISCOVERY' : 'RUN',
        isEnabled: !options.disabled,
        ...(options.idempotencyKey ? { idempotencyKey: options.idempotencyKey } : {}),
      },
    })
    const { schedule } = orThrow(createSchedule)
    process.stderr.write(
      `Created ${schedule.name}: ${schedule.ruleText}. ${schedule.nextRunAt ? `Next: ${schedule.nextRunAt}.` : 'It is disabled.'}\n`,
    )
  })
