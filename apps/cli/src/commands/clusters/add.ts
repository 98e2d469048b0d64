import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { ONE_NODE_HELP, selectNode } from '../../selector.ts'
import { type FieldOptions, fields, withFields } from './fields.ts'

type Options = FieldOptions & { reuseConfig: boolean }

export const clusterAdd = () =>
  withFields(
    new Command('add')
      .description('add an existing cluster; nothing is written on its machines')
      .argument('<name>', 'name in Muster')
      .argument('<controller>', `${ONE_NODE_HELP} on which Slurm's commands run`),
  )
    .option('--no-reuse-config', 'Muster may write slurm.conf')
    .action(async (name: string, controller: string, { reuseConfig, ...options }: Options) => {
      const { addSlurmCluster } = await request(
        graphql(`mutation ClusterAdd($input: AddSlurmClusterInput!) {
          addSlurmCluster(input: $input) {
            __typename ... on AddSlurmClusterPayload { slurmCluster { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          input: {
            name,
            controllerNodeId: (await selectNode(controller)).id,
            ...(await fields(options)),
            reuseConfig,
          },
        },
      )
      const { slurmCluster } = orThrow(addSlurmCluster)
      process.stderr.write(`Added ${slurmCluster.name}. See \`muster cluster get ${slurmCluster.name} --watch\`.\n`)
    })
