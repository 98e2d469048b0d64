import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { type FieldOptions, findTemplate, settings, withFields } from './fields.ts'

export const templateUpdate = () =>
  withFields(
    new Command('update')
      .description('change a job template; creates a new version')
      .argument('<name>')
      .option('--name <name>', 'new name')
      .option('--any-vars', 'remove the input schema: runs accept any extra vars'),
  ).action(async (name: string, options: FieldOptions & { name?: string; anyVars?: true }) => {
    const input = await settings(options)
    const { id } = await findTemplate(name)
    const { updateJobTemplate } = await request(
      graphql(`mutation TemplateUpdate($input: UpdateJobTemplateInput!) {
        updateJobTemplate(input: $input) {
          __typename ... on UpdateJobTemplatePayload { template { name version } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
        }
      }`),
      {
        input: {
          id,
          ...input,
          ...(options.name ? { name: options.name } : {}),
          settings: { ...input.settings, ...(options.anyVars ? { inputSchema: null } : {}) },
        },
      },
    )
    const changed = orThrow(updateJobTemplate).template
    process.stderr.write(`Updated ${changed.name}; version ${changed.version}.\n`)
  })
