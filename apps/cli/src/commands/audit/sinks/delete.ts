import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { findSink } from './fields.ts'

export const auditSinkDelete = () =>
  new Command('delete')
    .description('stop the delivery to a receiver and delete its sink')
    .argument('<name>')
    .action(async (name: string) => {
      const { deleteAuditSink } = await request(
        graphql(`mutation AuditSinkDelete($id: ID!) {
          deleteAuditSink(input: { id: $id }) { __typename ... on DeleteAuditSinkPayload { deletedId } ... on Error { code message } }
        }`),
        { id: (await findSink(name)).id },
      )
      orThrow(deleteAuditSink)
      process.stderr.write(`Deleted ${name}.\n`)
    })
