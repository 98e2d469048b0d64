import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { credentialId } from '../../../lookup.ts'
import { count } from '../../../output.ts'
import { givenCluster, withCluster } from '../../clusters/find-cluster.ts'

type Options = { cluster?: string; credential?: string; become?: string; bastion?: string }

export const slurmNodeOnboard = () =>
  withCluster(
    new Command('onboard')
      .description('add nodes of a cluster that are not in the inventory to it, with the credentials of the controller')
      .argument('[hostlist]', 'only these nodes, such as gpu[001-064]'),
  )
    .option('--credential <name>', 'another login credential')
    .option('--become <name>', 'another credential for privilege escalation')
    .option('--bastion <name>', 'another bastion')
    .action(async (hostlist: string | undefined, options: Options) => {
      const { onboardSlurmNodes } = await request(
        graphql(`mutation SlurmNodeOnboard($input: OnboardSlurmNodesInput!) {
          onboardSlurmNodes(input: $input) {
            __typename
            ... on OnboardSlurmNodesPayload { report { addedCount failedCount rows { name state issues { message } } } }
            ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          input: {
            clusterId: await givenCluster(options),
            ...(hostlist === undefined ? {} : { hostlist }),
            ...(options.credential === undefined ? {} : { credentialId: await credentialId(options.credential) }),
            ...(options.become === undefined ? {} : { becomeCredentialId: await credentialId(options.become) }),
            ...(options.bastion === undefined ? {} : { bastionId: await credentialId(options.bastion) }),
          },
        },
      )
      const { addedCount, failedCount, rows } = orThrow(onboardSlurmNodes).report
      for (const { name, state, issues } of rows)
        if (state === 'INVALID' || state === 'EXISTS')
          process.stderr.write(
            `${name}: ${issues.map(({ message }) => message).join(', ') || 'a node with this address exists'}\n`,
          )
      process.stderr.write(`Added ${count(addedCount, 'node')}. Continue with \`muster node test\`.\n`)
      if (failedCount > 0) process.exitCode = EXIT.failed
    })
