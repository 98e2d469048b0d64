import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findSchedule } from './fields.ts'

const ENABLE = graphql(`mutation ScheduleEnable($id: ID!) {
  enableSchedule(input: { id: $id }) { __typename ... on EnableSchedulePayload { schedule { nextRunAt } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
}`)
const DISABLE = graphql(`mutation ScheduleDisable($id: ID!) {
  disableSchedule(input: { id: $id }) { __typename ... on DisableSchedulePayload { schedule { name } } ... on Error { code message } }
}`)
const DELETE = graphql(`mutation ScheduleDelete($id: ID!) {
  deleteSchedule(input: { id: $id }) { __typename ... on DeleteSchedulePayload { deletedId } ... on Error { code message } }
}`)

export const scheduleEnable = () =>
  new Command('enable')
    .description('enable a schedule from its next time on, and become its owner')
    .argument('<name>')
    .action(async (name: string) => {
      const { enableSchedule } = await request(ENABLE, { id: (await findSchedule(name)).id })
      process.stderr.write(`Enabled ${name}. Next: ${orThrow(enableSchedule).schedule.nextRunAt}.\n`)
    })

export const scheduleDisable = () =>
  new Command('disable')
    .description('disable a schedule; what it has started continues')
    .argument('<name>')
    .action(async (name: string) => {
      orThrow((await request(DISABLE, { id: (await findSchedule(name)).id })).disableSchedule)
      process.stderr.write(`Disabled ${name}.\n`)
    })

export const scheduleDelete = () =>
  new Command('delete')
    .description('delete a schedule with its history; what it has started continues')
    .argument('<name>')
    .action(async (name: string) => {
      orThrow((await request(DELETE, { id: (await findSchedule(name)).id })).deleteSchedule)
      process.stderr.write(`Deleted ${name}.\n`)
    })
