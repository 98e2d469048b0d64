import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId } from '../../lookup.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { followTests } from '../connections/test.ts'

export const credentialTest = () =>
  new Command('test')
    .description('test a credential on nodes without changing them')
    .argument('<name>')
    .argument('<selector>', `${SELECTOR_HELP}; their host keys must be approved`)
    .withOutput()
    .action(async (name: string, selector: string, output: Output) => {
      const id = await credentialId(name)
      const ids: string[] = []
      for (const node of await selectNodes(selector)) {
        const { testCredential } = await request(
          graphql(`mutation CredentialTest($id: ID!, $nodeId: ID!) {
            testCredential(input: { id: $id, nodeId: $nodeId }) { __typename ... on TestCredentialPayload { connectionTest { id } } ... on Error { code message } }
          }`),
          { id, nodeId: node.id },
        )
        ids.push(orThrow(testCredential).connectionTest.id)
      }
      await followTests(ids, output)
    })
