import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { findTemplate } from './fields.ts'

export const templateRestore = () =>
  new Command('restore')
    .description('restore a job template from the archive or to an older version')
    .argument('<name>')
    .option('--version <n>', 'version to restore, see `history`', integer)
    .option('--reason <text>', 'reason, kept with the version')
    .action(async (name: string, { version, reason }: { version?: number; reason?: string }) => {
      const { id } = await findTemplate(name)
      const { restoreJobTemplate } = await request(
        graphql(`mutation TemplateRestore($id: ID!, $version: Int, $reason: String) {
          restoreJobTemplate(input: { id: $id, version: $version, reason: $reason }) {
            __typename ... on RestoreJobTemplatePayload { template { name version } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id, version: version ?? null, reason: reason ?? null },
      )
      const restored = orThrow(restoreJobTemplate).template
      process.stderr.write(`Restored ${restored.name}; version ${restored.version}.\n`)
    })
