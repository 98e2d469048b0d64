import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer, omitUndefined } from '../../options.ts'
import { nameList, ONE_NODE_HELP, SELECTOR_HELP, selectNode, selectNodes } from '../../selector.ts'
import { checkReadiness } from './check-readiness.ts'
import { followOperation } from './operations/watch.ts'
import { type SaltOptions, saltFields, withSalt } from './salt.ts'

type Options = {
  controller: string
  backup?: string
  compute: string
  login?: string
  partition?: string
  region?: string
  maxNodes?: number
  stateFolder?: string
  prefix?: string
  accountingHost?: string
  accountingNode?: string
  repositoryUrl?: string
  repositoryKey?: string
  line: string[]
  shardsPerGpu?: number
  reason: string
  check?: boolean
  watch: boolean
} & SaltOptions

const ids = async (selector: string): Promise<string[]> => (await selectNodes(selector)).map(({ id }) => id)

export const clusterCreate = () =>
  withSalt(new Command('create'))
    .description('create a managed cluster: install Slurm on nodes that are READY, configure and start it')
    .argument('<name>', 'name in Muster, and ClusterName')
    .requiredOption('--controller <selector>', `${ONE_NODE_HELP} that runs slurmctld`)
    .requiredOption('--compute <selector>', `nodes that run jobs: ${SELECTOR_HELP}`)
    .requiredOption('--reason <text>', 'reason; recorded in the history and the audit log')
    .option('--backup <selector>', 'node that runs slurmctld when the controller is down; needs --state-folder')
    .option('--login <selector>', "nodes that get Slurm's commands only")
    .option('--partition <name>', 'partition of all nodes (default: batch)')
    .option('--region <region>', 'region')
    .option('--max-nodes <n>', 'maximum number of nodes', integer)
    .option('--state-folder <folder>', "folder of the controllers' state, on shared storage with a backup")
    .option('--prefix <folder>', 'folder with an installed Slurm, such as /opt/slurm; no packages are installed')
    .option('--accounting-host <host>', 'slurmdbd that exists: host or host:port; nothing is written there')
    .option(
      '--accounting-node <selector>',
      `node on which slurmdbd and MariaDB are installed; may be the controller. ${ONE_NODE_HELP}`,
    )
    .option('--repository-url <url>', 'package repository')
    .option('--repository-key <url>', 'signing key of the repository')
    .option('--line <line>', 'further line of slurm.conf; can be repeated', (line: string, all: string[]) => [...all, line], [])
    .option('--shards-per-gpu <n>', 'shards per whole GPU: the number of jobs that can share it (default: no shards)', integer)
    .option('--check', 'check the nodes over SSH, and start nothing')
    .option('--no-watch', 'do not wait for the end')
    .action(
      async (
        name: string,
        {
          watch,
          controller,
          backup,
          compute,
          login,
          line,
          saltCredential,
          saltEauth,
          saltCaFile,
          saltInstalls,
          ...given
        }: Options,
      ) => {
        const salt = await saltFields(omitUndefined({ saltCredential, saltEauth, saltCaFile, saltInstalls }))
        const { accountingHost, accountingNode, check, ...options } = given
        if (accountingHost && accountingNode)
          throw new CliError('Give either --accounting-host or --accounting-node.', EXIT.usage)
        if (check) {
          const all = [controller, backup, compute, login, accountingNode].flatMap((selector) => selector ?? [])
          const nodeIds = [...new Set((await Promise.all(all.map(ids))).flat())]
          const failed = await checkReadiness({ nodeIds, ...(given.prefix ? { prefix: given.prefix } : {}), ...salt })
          if (failed.length > 0) throw new CliError(`${nameList(failed)} cannot join. Nothing was started.`, EXIT.rejected)
          return void process.stderr.write('All nodes can join. Nothing was started.\n')
        }
        const { createSlurmCluster } = await request(
          graphql(`mutation ClusterCreate($input: CreateSlurmClusterInput!) {
          createSlurmCluster(input: $input) {
            __typename ... on CreateSlurmClusterPayload { slurmOperation { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
          {
            input: {
              name,
              ...omitUndefined(options),
              reason: options.reason,
              controllerNodeId: (await selectNode(controller)).id,
              computeNodeIds: await ids(compute),
              ...(backup ? { backupNodeId: (await selectNode(backup)).id } : {}),
              ...(login ? { loginNodeIds: await ids(login) } : {}),
              ...(accountingHost ? { accounting: { kind: 'EXISTING' as const, host: accountingHost } } : {}),
              ...(accountingNode
                ? { accounting: { kind: 'MANAGED' as const, nodeId: (await selectNode(accountingNode)).id } }
                : {}),
              ...salt,
              extraLines: line,
            },
          },
        )
        await followOperation(orThrow(createSlurmCluster).slurmOperation.id, { watch })
      },
    )
