import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { oneOf } from '../../../options.ts'
import { SINK_KINDS, type SinkKind, type SinkOptions, sinkFields, sinkSecrets, withSinkFields } from './fields.ts'

export const auditSinkCreate = () =>
  withSinkFields(
    new Command('create')
      .description('deliver all audit entries to a receiver; asks for the address and secret of a webhook')
      .argument('<name>')
      .argument('<kind>', SINK_KINDS.join(', '), oneOf(...SINK_KINDS))
      .option('--existing', 'also deliver existing entries'),
  ).action(async (name: string, kind: SinkKind, { existing, ...options }: SinkOptions & { existing?: true }) => {
    const { createAuditSink } = await request(
      graphql(`mutation AuditSinkCreate($input: CreateAuditSinkInput!) {
        createAuditSink(input: $input) { __typename ... on CreateAuditSinkPayload { auditSink { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      {
        input: {
          name,
          kind,
          ...sinkFields(options),
          ...(await sinkSecrets(kind, options)),
          ...(existing ? { includeExisting: true } : {}),
        },
      },
    )
    process.stderr.write(`Created ${orThrow(createAuditSink).auditSink.name}. Test it with \`muster audit sink test ${name}\`.\n`)
  })
