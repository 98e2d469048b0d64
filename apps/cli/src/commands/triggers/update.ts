import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findTrigger, type TriggerOptions, triggerFields, withTriggerFields } from './fields.ts'

const UPDATE = graphql(`mutation TriggerUpdate($input: UpdateTriggerInput!) {
  updateTrigger(input: $input) { __typename ... on UpdateTriggerPayload { trigger { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
}`)
type UpdateOptions = TriggerOptions & { name?: string }

const update = async (id: string, changes: object): Promise<string> =>
  orThrow((await request(UPDATE, { input: { id, ...changes } })).updateTrigger).trigger.name

export const triggerUpdate = () =>
  withTriggerFields(
    new Command('update')
      .description('change a trigger and become its owner; settings and variables replace all previous ones')
      .argument('<name>')
      .option('--name <name>', 'rename it'),
  ).action(async (current: string, options: UpdateOptions) => {
    const changes = { ...(options.name ? { name: options.name } : {}), ...triggerFields(options) }
    const name = await update(await findTrigger(current), changes)
    process.stderr.write(`Changed ${name}.\n`)
  })

export const triggerEnable = () =>
  new Command('enable')
    .description('accept requests, and become the owner')
    .argument('<name>')
    .action(async (name: string) => {
      await update(await findTrigger(name), { isEnabled: true })
      process.stderr.write(`Enabled ${name}.\n`)
    })

export const triggerDisable = () =>
  new Command('disable')
    .description('reject requests; runs that it has started continue')
    .argument('<name>')
    .action(async (name: string) => {
      await update(await findTrigger(name), { isEnabled: false })
      process.stderr.write(`Disabled ${name}.\n`)
    })
