import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId, nodeIds } from '../../ids.ts'
import { type Format, outputOption } from '../../output.ts'
import { followTests } from '../node/test.ts'

export const credentialTest = () =>
  new Command('test')
    .description('try a credential on nodes in place of their own; the nodes stay as they are')
    .argument('<name>')
    .argument('<hostlist>', 'nodes whose host keys are approved, for example gpu[01-08]')
    .addOption(outputOption())
    .action(async (name: string, hostlist: string, { output }: { output: Format }) => {
      const id = await credentialId(name)
      const ids: string[] = []
      for (const node of await nodeIds(hostlist)) {
        const { testCredential } = await request(
          graphql(`mutation CredentialTest($id: ID!, $nodeId: ID!) {
            testCredential(id: $id, nodeId: $nodeId) { __typename ... on ConnectionTest { id } ... on Error { code message } }
          }`),
          { id, nodeId: node.id },
        )
        ids.push(orThrow(testCredential).id)
      }
      await followTests(ids, output)
    })
