import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findSchedule, type ScheduleOptions, scheduleFields, withScheduleFields } from './fields.ts'

const UPDATE = graphql(`mutation ScheduleUpdate($input: UpdateScheduleInput!) {
  updateSchedule(input: $input) { __typename ... on UpdateSchedulePayload { schedule { name nextRunAt ruleText } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
}`)

export const scheduleUpdate = () =>
  withScheduleFields(
    new Command('update')
      .description('change a schedule and become its owner; settings of runs replace all previous ones')
      .argument('<name>')
      .option('--name <name>', 'rename it'),
  ).action(async (current: string, options: ScheduleOptions & { name?: string }) => {
    const { id } = await findSchedule(current)
    const name = options.name ? { name: options.name } : {}
    const { updateSchedule } = await request(UPDATE, { input: { id, ...name, ...scheduleFields(options) } })
    const { schedule } = orThrow(updateSchedule)
    process.stderr.write(
      `Changed ${schedule.name}: ${schedule.ruleText}. Next: ${schedule.nextRunAt ?? 'never, it is disabled'}.\n`,
    )
  })
