import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integer } from '../../../options.ts'
import { printRows } from '../../../output.ts'
import { readVersion } from './follow.ts'
import { saveConfig } from './write.ts'

type Target = { partition?: string; slurmNodes?: string }

/** Adds the options that choose the lines of slurm.conf. */
const withTarget = (command: Command): Command =>
  command
    .option('--partition <name>', 'keys of this partition')
    .option('--slurm-nodes <hostlist>', 'keys of these nodes, by their names in Slurm')

function targetOf({ partition, slurmNodes }: Target): { partition?: string; nodes?: string } {
  if (partition !== undefined && slurmNodes !== undefined)
    throw new CliError('Choose either --partition or --slurm-nodes.', EXIT.usage)
  return { ...(partition === undefined ? {} : { partition }), ...(slurmNodes === undefined ? {} : { nodes: slurmNodes }) }
}

export const configSet = () =>
  withTarget(
    new Command('set')
      .description('change keys of slurm.conf, and save it as the next version; KEY= removes a key')
      .argument('<cluster>')
      .argument('<key=value...>', 'keys with their new values'),
  )
    .requiredOption('--reason <text>', 'reason, for the history and the audit log')
    .action(async (name: string, assignments: string[], { reason, ...options }: Target & { reason: string }) => {
      const target = targetOf(options)
      const changes = assignments.map((assignment) => {
        const [, key, value] = /^(\w+)=(.*)$/s.exec(assignment) ?? []
        if (key === undefined) throw new CliError(`Invalid assignment: ${assignment}. Use KEY=VALUE.`, EXIT.usage)
        return { ...target, key, value: value === '' ? null : value! }
      })
      const { cluster, version } = await readVersion(name)
      await saveConfig({ clusterId: cluster.id, basedOn: version.number, changes, reason }, name)
    })

const SETTINGS = graphql(`query ClusterConfigSettings($name: String!, $number: Int) {
  slurmCluster(name: $name) {
    configSettings(number: $number) {
      settings { group key type description default value }
      partitions { name settings { key type description default value } }
      nodes { name settings { key type description default value } }
    }
  }
}`)

export const configSettings = () =>
  withTarget(
    new Command('settings')
      .description('keys of slurm.conf that administrators change most, with their values and defaults')
      .argument('<cluster>')
      .argument('[version]', 'default: the newest one', integer)
      .withOutput(),
  ).action(async (name: string, number: number | undefined, { partition, slurmNodes, ...output }: Target & Output) => {
    targetOf({ ...(partition ? { partition } : {}), ...(slurmNodes ? { slurmNodes } : {}) })
    const { version } = await readVersion(name, number)
    const found = (await request(SETTINGS, { name, number: version.number })).slurmCluster!.configSettings!
    const entry =
      partition !== undefined
        ? found.partitions.find((one) => one.name === partition)
        : found.nodes.find((one) => one.name === slurmNodes)
    if ((partition ?? slurmNodes) !== undefined && !entry)
      throw new CliError(`slurm.conf has no line for ${partition ?? slurmNodes}.`, EXIT.notFound)
    printRows(
      (entry?.settings ?? found.settings).map((row) => ({ ...row, id: row.key, name: row.key })),
      [
        { title: 'KEY', value: (s) => s.key },
        { title: 'VALUE', value: (s) => s.value },
        { title: 'DEFAULT', value: (s) => s.default },
        { title: 'DESCRIPTION', value: (s) => s.description },
      ],
      output,
      'No settings.',
    )
  })
