import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError } from 'commander'
import { request } from '../client.ts'
import { CliError, EXIT, orThrow } from '../errors.ts'
import { graphql } from '../graphql.ts'
import { integer, percentage, words } from '../options.ts'
import { type Format, outputOption } from '../output.ts'
import { preview } from '../preview.ts'
import { followStarted } from '../started.ts'
import { readYaml } from '../yaml.ts'

type Vars = Record<string, unknown>
type Options = {
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
  idempotencyKey?: string
  detach?: true
  preview?: true
  output: Format
}

export const run = () =>
  new Command('run')
    .description('run a template on nodes and follow its log')
    .argument('<template>', 'name of the job template, see `muster template list`')
    .requiredOption(
      '-l, --limit <expression>',
      'where: a hostlist gpu[01-08], @group, tag:x, status:READY, vendor:amd, all; comma joins, ! leaves out',
    )
    .option('-e, --extra-vars <vars>', 'key=value, YAML or JSON text, or @FILE; may be repeated', addVars)
    .option('--become', 'become the template’s become user')
    .option('--no-become', 'stay the login user')
    .option('-f, --forks <n>', 'hosts at a time', integer)
    .option('--serial <batches>', 'hosts at a time, as Ansible takes it: 5, 30%, or 1,5,30%')
    .option('--max-fail-percentage <n>', 'end it when more than this share of a batch has failed, 0 to 100', percentage)
    .option('-t, --tags <tags>', 'only tasks with one of these tags, parted by commas', words)
    .option('--skip-tags <tags>', 'no tasks with one of these tags', words)
    .option('--timeout <seconds>', 'end the run after so many seconds', integer)
    .option('-C, --check', 'change nothing, say what would change')
    .option('-D, --diff', 'show what changes in files')
    .option('-v, --verbose', 'more from Ansible; repeat for more still', (_: string, before: number) => before + 1, 0)
    .option('--reason <text>', 'why; kept with the run')
    .option('--idempotency-key <key>', 'the same key gives the same run, so that trying again is safe')
    .option('--preview', 'start nothing; print the command line, the nodes, their variables, and what would keep it from running')
    .addOption(outputOption('how to print a preview: table for people, json or yaml, with the inventory, for programs'))
    .option('-d, --detach', 'print the run’s id and return at once')
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
        ...(options.idempotencyKey ? { idempotencyKey: options.idempotencyKey } : {}),
      }
      if (options.preview) {
        process.exitCode = await preview(input, options.output)
        return
      }
      const { runJob } = await request(
        graphql(`mutation Run($input: RunJobInput!) {
          runJob(input: $input) { __typename ... on JobRun { id hostsTotal } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input },
      )
      await followStarted(orThrow(runJob), options.detach)
    })

/** `key=value`, YAML or JSON text, or @FILE, as ansible-playbook takes them; later ones win. */
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
  // As with ansible-playbook, the value of key=value is text.
  if (pair) return { [pair[1]!]: pair[2] }
  return mapping(text, 'It')
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
