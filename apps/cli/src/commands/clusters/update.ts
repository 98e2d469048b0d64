import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { selectNode } from '../../selector.ts'
import { type FieldOptions, fields, withFields } from './fields.ts'
import { clusterId } from './find-cluster.ts'

type Options = FieldOptions & { name?: string; controller?: string }

export const clusterUpdate = () =>
  withFields(
    new Command('update')
      .description("change a cluster in Muster; '' clears a field")
      .argument('<name>')
      .option('--name <name>', 'new name')
      .option('--controller <controller>', "node on which Slurm's commands run"),
  ).action(async (name: string, { name: newName, controller, ...options }: Options) => {
    const { updateSlurmCluster } = await request(
      graphql(`mutation ClusterUpdate($input: UpdateSlurmClusterInput!) {
        updateSlurmCluster(input: $input) {
          __typename ... on UpdateSlurmClusterPayload { slurmCluster { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
        }
      }`),
      {
        input: {
          id: await clusterId(name),
          ...(newName === undefined ? {} : { name: newName }),
          ...(controller === undefined ? {} : { controllerNodeId: (await selectNode(controller)).id }),
          ...(await fields(options)),
        },
      },
    )
    process.stderr.write(`Updated ${orThrow(updateSlurmCluster).slurmCluster.name}.\n`)
  })
