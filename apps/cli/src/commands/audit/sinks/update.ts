import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { findSink, type SinkOptions, sinkFields, sinkSecrets, withSinkFields } from './fields.ts'

export const auditSinkUpdate = () =>
  withSinkFields(
    new Command('update')
      .description('change, enable or disable a sink; delivery continues after the last accepted entry, immediately')
      .argument('<name>')
      .option('--on', 'enable the sink')
      .option('--off', 'disable the sink; retention does not wait for it')
      .option('--secrets', 'ask for a new address and signing secret'),
  )
    // After --authorization: else its default would be true.
    .option('--no-authorization', 'WEBHOOK: remove the Authorization header')
    .action(async (name: string, options: SinkOptions & { on?: true; off?: true; secrets?: true }) => {
      const { id, kind } = await findSink(name)
      const { updateAuditSink } = await request(
        graphql(`mutation AuditSinkUpdate($input: UpdateAuditSinkInput!) {
        updateAuditSink(input: $input) { __typename ... on UpdateAuditSinkPayload { auditSink { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
        {
          input: {
            id,
            ...sinkFields(options),
            ...(options.secrets || options.stdin ? await sinkSecrets(kind, options) : {}),
            ...(options.on || options.off ? { isEnabled: options.on === true } : {}),
          },
        },
      )
      process.stderr.write(`Updated ${orThrow(updateAuditSink).auditSink.name}.\n`)
    })
