import { awaitDelivery } from '../../../await-delivery.ts'
import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { findSink } from './fields.ts'

const STATE = graphql(`query AuditSinkTestState($id: ID!) { node(id: $id) { ... on AuditSink { isTestPending testError } } }`)

export const auditSinkTest = () =>
  new Command('test')
    .description('send a test entry, which is not in the audit log, and wait for its delivery')
    .argument('<name>')
    .action(async (name: string) => {
      const { id } = await findSink(name)
      const { testAuditSink } = await request(
        graphql(`mutation AuditSinkTest($id: ID!) {
          testAuditSink(input: { id: $id }) { __typename ... on TestAuditSinkPayload { auditSink { name } } ... on Error { code message } }
        }`),
        { id },
      )
      orThrow(testAuditSink)
      await awaitDelivery(name, async () => {
        const { node } = await request(STATE, { id })
        return !node || !('testError' in node) || node.isTestPending ? null : { error: node.testError }
      })
    })
