import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { oneOf } from '../../options.ts'
import { selectNode } from '../../selector.ts'
import { type FieldOptions, fields, withFields } from './fields.ts'
import { clusterId } from './find-cluster.ts'
import { type SaltOptions, saltFields, withSalt } from './salt.ts'

type Options = FieldOptions & SaltOptions & { name?: string; controller?: string; reuseConfig?: 'YES' | 'NO' }

export const clusterUpdate = () =>
  withSalt(
    withFields(
      new Command('update')
        .description("change a cluster in Muster; '' clears a field")
        .argument('<name>')
        .option('--name <name>', 'new name')
        .option('--controller <controller>', "node on which Slurm's commands run")
        .option('--reuse-config <yes|no>', 'yes: Muster never writes slurm.conf', oneOf('YES', 'NO')),
    ),
  ).action(async (name: string, { name: newName, controller, reuseConfig, ...options }: Options) => {
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
          ...(reuseConfig === undefined ? {} : { reuseConfig: reuseConfig === 'YES' }),
          ...(await fields(options)),
          ...(await saltFields(options)),
        },
      },
    )
    process.stderr.write(`Updated ${orThrow(updateSlurmCluster).slurmCluster.name}.\n`)
  })
