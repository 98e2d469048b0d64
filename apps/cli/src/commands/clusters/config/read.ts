import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integer } from '../../../options.ts'
import { ago, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'
import { clusterNotFound } from '../find-cluster.ts'
import { formatDiff, readVersion } from './follow.ts'

const LIST = graphql(`query ClusterConfigList($name: String!, $first: Int, $after: String) {
  slurmCluster(name: $name) {
    configNumber
    configVersions(first: $first, after: $after) {
      edges { node { id number origin basedOn reason createdAt createdBy { name } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)

export const configList = () =>
  new Command('list')
    .description('versions of the configuration, newest first')
    .argument('<cluster>')
    .withOutput()
    .action(async (name: string, options: Output) => {
      let current: number | null = null
      const rows = await fetchAll(async (page) => {
        const { slurmCluster } = await request(LIST, { name, ...page })
        if (!slurmCluster) throw clusterNotFound(name)
        current = slurmCluster.configNumber
        return slurmCluster.configVersions
      })
      printRows(
        rows.map((row) => ({ ...row, name: String(row.number), isRolledOut: row.number === current })),
        [
          { title: 'VERSION', value: (v) => v.number },
          { title: 'HOSTS', value: (v) => (v.isRolledOut ? 'have it' : null) },
          { title: 'ORIGIN', value: (v) => v.origin },
          { title: 'BASED ON', value: (v) => v.basedOn },
          { title: 'BY', value: (v) => v.createdBy.name },
          { title: 'CREATED', value: (v) => ago(v.createdAt) },
          { title: 'REASON', value: (v) => v.reason },
        ],
        options,
        'No configuration yet. Read it with `muster cluster config import`.',
      )
    })

export const configShow = () =>
  new Command('show')
    .description('print a file of a version')
    .argument('<cluster>')
    .argument('[version]', 'default: the newest one', integer)
    .option('--file <name>', 'slurm.conf, gres.conf, cgroup.conf or topology.conf', 'slurm.conf')
    .action(async (name: string, number: number | undefined, { file }: { file: string }) => {
      const { version } = await readVersion(name, number)
      const found = version.files.find((one) => one.name === file)
      if (!found) throw new CliError(`Version ${version.number} has no ${file}.`, EXIT.notFound)
      process.stdout.write(found.text)
    })

const DIFF = graphql(`query ClusterConfigDiff($name: String!, $from: Int!, $to: Int!) {
  slurmCluster(name: $name) { configDiff(from: $from, to: $to) { file lines { kind text } } }
}`)

export const configDiff = () =>
  new Command('diff')
    .description('how two versions differ')
    .argument('<cluster>')
    .argument('<from>', 'number of the earlier version', integer)
    .argument('[to]', 'number of the later version; default: the newest one', integer)
    .action(async (name: string, from: number, to: number | undefined) => {
      await readVersion(name, from)
      const { version } = await readVersion(name, to)
      const { slurmCluster } = await request(DIFF, { name, from, to: version.number })
      process.stdout.write(formatDiff(slurmCluster?.configDiff ?? []) || 'The versions are the same.\n')
    })

const DRIFT = graphql(`query ClusterConfigDrift($name: String!) {
  slurmCluster(name: $name) { id configNumber configCheckedAt configDrift { host diff } }
}`)

/** Prints the last comparison with the hosts. @returns whether all have the same files */
export async function printDrift(name: string, options: Output): Promise<boolean> {
  const { slurmCluster } = await request(DRIFT, { name })
  if (!slurmCluster) throw clusterNotFound(name)
  printRows(
    slurmCluster.configDrift.map((row) => ({ ...row, id: row.host, name: row.host })),
    [
      { title: 'HOST', value: (d) => d.host },
      { title: 'FILES', value: (d) => (d.diff === null ? `same as version ${slurmCluster.configNumber}` : 'differ') },
      { title: 'DIFFERENCE', value: (d) => d.diff },
    ],
    options,
    'Not compared yet.',
  )
  return slurmCluster.configDrift.every(({ diff }) => diff === null)
}
