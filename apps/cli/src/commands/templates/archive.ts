import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findTemplate } from './fields.ts'

export const templateArchive = () =>
  new Command('archive')
    .description('archive a job template; `restore` makes it available again')
    .argument('<name>')
    .option('--reason <text>', 'reason, kept with the version')
    .action(async (name: string, { reason }: { reason?: string }) => {
      const { id } = await findTemplate(name)
      const { archiveJobTemplate } = await request(
        graphql(`mutation TemplateArchive($id: ID!, $reason: String) {
          archiveJobTemplate(input: { id: $id, reason: $reason }) {
            __typename ... on ArchiveJobTemplatePayload { template { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id, reason: reason ?? null },
      )
      process.stderr.write(`Archived ${orThrow(archiveJobTemplate).template.name}.\n`)
    })
