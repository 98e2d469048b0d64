import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findTemplate } from './fields.ts'

export const templateArchive = () =>
  new Command('archive')
    .description('take a job template out of use; `restore` brings it back')
    .argument('<name>')
    .option('--reason <text>', 'why')
    .action(async (name: string, { reason }: { reason?: string }) => {
      const { id } = await findTemplate(name)
      const { archiveJobTemplate } = await request(
        graphql(`mutation TemplateArchive($id: ID!, $reason: String) {
          archiveJobTemplate(id: $id, reason: $reason) {
            __typename ... on JobTemplate { name } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id, reason: reason ?? null },
      )
      process.stderr.write(`Archived ${orThrow(archiveJobTemplate).name}.\n`)
    })
