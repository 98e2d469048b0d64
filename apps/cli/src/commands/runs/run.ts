import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { commaList, integer, percentage } from '../../options.ts'
import { readYaml } from '../../yaml.ts'
import { followStarted } from './follow-started.ts'
import { preview } from './preview.ts'

type Vars = Record<string, unknown>
type Options = Output & {
  limit: string
  extraVars?: Vars
  become?: boolean
  forks?: number
  timeout?: number
  serial?: string
  maxFailPercentage?: number
  tags?: string[]
  skipTags?: string[]
  check?: true
  diff?: true
  verbose: number
  reason?: string
  includeOffline?: true
  slurmDrain?: true
  slurmBatch?: number
  slurmDeadline?: number
  slurmFloor?: number
  slurmHealth?: number
  slurmReserved?: true
  slurmMaintenance?: true
  idempotencyKey?: string
  detach?: true
  preview?: true
}

export const run = () =>
  new Command('run')
    .argument('<template>', 'name of a job template, see `muster template list`')
    .requiredOption(
      '-l, --limit <expression>',
      'gpu[01-08], gpu*, @group, tag:x, status:READY, vendor:amd, xname:x1000c0*, nid:1-64, bmc:10.0.1.*, mac:02:00:5e:*, {query} or all; a comma joins, ! excludes',
    )
    .option('-e, --extra-vars <vars>', 'extra vars: key=value, YAML, JSON or @FILE; repeatable', addVars)
    .option('--become', 'run tasks as the become user of the template')
    .option('--no-become', 'run tasks as the login user')
    .option('-f, --forks <n>', 'parallel hosts', integer)
    .option('--serial <batches>', "batch sizes in Ansible's notation: 5, 30% or 1,5,30%")
    .option('--max-fail-percentage <n>', 'stop when more than this share of a batch failed, 0 to 100', percentage)
    .option('-t, --tags <tags>', 'only tasks with one of these tags, separated by commas', commaList)
    .option('--skip-tags <tags>', 'skip tasks with one of these tags', commaList)
    .option('--timeout <seconds>', 'cancel the run after this time', integer)
    .option('-C, --check', 'dry run: report changes only')
    .option('-D, --diff', 'show changes of files')
    .option('-v, --verbose', 'more output of Ansible; repeatable', (_: string, before: number) => before + 1, 0)
    .option('--reason <text>', 'reason, kept with the run')
    .option('--include-offline', 'include nodes with an OFFLINE agent, which runs otherwise skip')
    .option('--slurm-drain', 'drain the nodes in Slurm first, batch by batch; resume them when they are healthy')
    .option('--slurm-batch <n>', 'nodes that are drained at the same time (default: 1)', integer)
    .option('--slurm-deadline <seconds>', 'how long a batch waits for jobs and capacity (default: 86400)', integer)
    .option('--slurm-floor <n>', 'share of each partition that stays in service, 0 to 100 (default: 50)', percentage)
    .option('--slurm-health <seconds>', 'how long nodes may take to be healthy afterwards (default: 300)', integer)
    .option('--slurm-reserved', 'drain nodes that are reserved by others, too')
    .option('--slurm-maintenance', 'drain nodes only during a reservation with the flag MAINT')
    .option('--idempotency-key <key>', 'a repeated key returns the same run instead of starting another')
    .option('--preview', 'start nothing; print the command line, nodes, variables and blockers')
    .withOutput('output format of the preview: table, json or yaml')
    .option('-d, --detach', 'print the run ID and do not follow the log')
    .action(async (template: string, options: Options) => {
      const input = {
        template,
        limit: options.limit,
        extraVars: options.extraVars ?? {},
        ...(options.become === undefined ? {} : { become: options.become }),
        ...(options.forks ? { forks: options.forks } : {}),
        ...(options.timeout ? { timeoutSeconds: options.timeout } : {}),
        ...(options.serial ? { serial: options.serial } : {}),
        ...(options.maxFailPercentage === undefined ? {} : { maxFailPercentage: options.maxFailPercentage }),
        ...(options.tags ? { jobTags: options.tags } : {}),
        ...(options.skipTags ? { skipTags: options.skipTags } : {}),
        checkMode: options.check ?? false,
        diffMode: options.diff ?? false,
        verbosity: options.verbose,
        ...(options.reason ? { reason: options.reason } : {}),
        ...(options.includeOffline ? { includeOffline: true } : {}),
        ...slurmInput(options),
        ...(options.idempotencyKey ? { idempotencyKey: options.idempotencyKey } : {}),
      }
      if (options.preview) {
        process.exitCode = await preview(input, options)
        return
      }
      const { runJob } = await request(
        graphql(`mutation Run($input: RunJobInput!) {
          runJob(input: $input) { __typename ... on RunJobPayload { run { id number hostCounts { total } } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input },
      )
      await followStarted(orThrow(runJob).run, options.detach)
    })

const SLURM_OPTIONS = {
  slurmBatch: '--slurm-batch',
  slurmDeadline: '--slurm-deadline',
  slurmFloor: '--slurm-floor',
  slurmHealth: '--slurm-health',
  slurmReserved: '--slurm-reserved',
  slurmMaintenance: '--slurm-maintenance',
} as const

function slurmInput(options: Options) {
  if (!options.slurmDrain) {
    const [, flag] =
      Object.entries(SLURM_OPTIONS).find(([name]) => options[name as keyof typeof SLURM_OPTIONS] !== undefined) ?? []
    if (flag) throw new CliError(`${flag} needs --slurm-drain.`, EXIT.usage)
    return {}
  }
  return {
    slurm: {
      ...(options.slurmBatch === undefined ? {} : { batchSize: options.slurmBatch }),
      ...(options.slurmDeadline === undefined ? {} : { deadlineSeconds: options.slurmDeadline }),
      ...(options.slurmFloor === undefined ? {} : { floorPercent: options.slurmFloor }),
      ...(options.slurmHealth === undefined ? {} : { healthSeconds: options.slurmHealth }),
      includeReserved: options.slurmReserved ?? false,
      maintenanceOnly: options.slurmMaintenance ?? false,
    },
  }
}

/** Adds extra vars as ansible-playbook does: `key=value`, YAML, JSON or @FILE; later values win. */
export function addVars(text: string, before: Vars = {}): Vars {
  return { ...before, ...parseVars(text) }
}

function parseVars(text: string): Vars {
  if (text.startsWith('@')) {
    let content: string
    try {
      content = readFileSync(text.slice(1), 'utf8')
    } catch (error) {
      throw new CliError(`Cannot read ${text.slice(1)}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage)
    }
    return mapping(content, text.slice(1))
  }
  const pair = /^([A-Za-z_]\w*)=(.*)$/s.exec(text)
  // As in ansible-playbook, the value of key=value is text.
  if (pair) return { [pair[1]!]: pair[2] }
  return mapping(text, 'The value')
}

function mapping(text: string, source: string): Vars {
  let value: unknown
  try {
    value = readYaml(text)
  } catch (error) {
    throw new InvalidArgumentError(
      `${source} is neither YAML nor JSON: ${(error as Error).message.split('\n')[0]?.replace(/:$/, '.')}`,
    )
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new InvalidArgumentError(`${source} must be key=value, or a YAML or JSON mapping.`)
  return value as Vars
}
