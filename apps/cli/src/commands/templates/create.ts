import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { type FieldOptions, settings, withFields } from './fields.ts'

export const templateCreate = () =>
  withFields(new Command('create').description('create a job template').argument('<name>')).action(
    async (name: string, options: FieldOptions) => {
      const input = await settings(options)
      const { createJobTemplate } = await request(
        graphql(`mutation TemplateCreate($input: CreateJobTemplateInput!) {
          createJobTemplate(input: $input) {
            __typename ... on CreateJobTemplatePayload { template { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { name, ...input } },
      )
      process.stderr.write(`Created ${orThrow(createJobTemplate).template.name}.\n`)
    },
  )
