import { readFileSync } from 'node:fs'
import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { confirmAction, YES_HELP } from '../../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { commaList } from '../../../options.ts'
import { count } from '../../../output.ts'
import { readStdin } from '../../../prompt.ts'
import { clusterId } from '../find-cluster.ts'
import { readSnippet, stateLines } from './read.ts'

const REASON = 'reason, for the history and the audit log'
const KEYS = { 'slurm.conf': 'slurmConf', 'gres.conf': 'gresConf', 'cgroup.conf': 'cgroupConf' } as const
type FileName = keyof typeof KEYS
type Options = { file: string; from?: string; clusters?: string[]; regions?: string[]; reason: string }

const withLines = (command: Command): Command =>
  command
    .option('--file <name>', 'configuration file: slurm.conf, gres.conf or cgroup.conf', 'slurm.conf')
    .option('--from <path>', 'file with the lines, or - for standard input; an empty file removes the lines of --file')
    .option('--clusters <names>', 'comma-separated names of clusters that get the snippet; replaces the list', commaList)
    .option(
      '--regions <names>',
      'comma-separated regions; all of their clusters get the snippet, including later ones; replaces the list',
      commaList,
    )
    .requiredOption('--reason <text>', REASON)

function fileName(file: string): FileName {
  if (!(file in KEYS)) throw new CliError(`--file must be one of ${Object.keys(KEYS).join(', ')}.`, EXIT.usage)
  return file as FileName
}
const readLines = async (from: string): Promise<string> => (from === '-' ? await readStdin() : readFileSync(from, 'utf8'))
const idsOf = (names: readonly string[]): Promise<string[]> => Promise.all(names.map(clusterId))

type Written = Parameters<typeof stateLines>[0] & { name: string; version: number }

/** Prints the stored snippet and the next step. */
function print(did: string, snippet: Written): void {
  const isUnapplied = snippet.clusters.some(({ state }) => state === 'NOT_APPLIED')
  const lines = [
    `${did} ${snippet.name}, version ${snippet.version}.`,
    ...stateLines(snippet),
    ...(isUnapplied ? [NEXT_STEP] : []),
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
}
const NEXT_STEP = 'Preview and apply it with `muster cluster snippet apply`.'

export const snippetCreate = () =>
  withLines(
    new Command('create')
      .description('create a snippet; `apply` then saves versions of the configurations with it')
      .argument('<name>'),
  ).action(async (name: string, { file, from, clusters = [], regions = [], reason }: Options) => {
    if (from === undefined) throw new CliError('--from is required: a file with the lines, or -.', EXIT.usage)
    const { createSlurmConfigSnippet } = await request(
      graphql(`mutation SnippetCreate($input: CreateSlurmConfigSnippetInput!) {
        createSlurmConfigSnippet(input: $input) {
          __typename
          ... on CreateSlurmConfigSnippetPayload { slurmConfigSnippet { name version clusters { state message cluster { id name } } } }
          ... on Error { code message } ... on InvalidInputError { issues { path message } }
        }
      }`),
      {
        input: {
          name,
          files: { [KEYS[fileName(file)]]: await readLines(from) },
          clusterIds: await idsOf(clusters),
          regions,
          reason,
        },
      },
    )
    print('Created', orThrow(createSlurmConfigSnippet).slurmConfigSnippet)
  })

export const snippetUpdate = () =>
  withLines(
    new Command('update')
      .description('change the lines, clusters or regions of a snippet; `apply` then saves versions with them')
      .argument('<name>'),
  ).action(async (name: string, { file, from, clusters, regions, reason }: Options) => {
    const { id, version, files } = await readSnippet(name)
    const before = Object.fromEntries(files.map((one) => [KEYS[one.name as FileName], one.text]))
    const { updateSlurmConfigSnippet } = await request(
      graphql(`mutation SnippetUpdate($input: UpdateSlurmConfigSnippetInput!) {
        updateSlurmConfigSnippet(input: $input) {
          __typename
          ... on UpdateSlurmConfigSnippetPayload { slurmConfigSnippet { name version clusters { state message cluster { id name } } } }
          ... on Error { code message } ... on InvalidInputError { issues { path message } }
        }
      }`),
      {
        input: {
          ...{ id, expectedVersion: version, reason },
          ...(from === undefined ? {} : { files: { ...before, [KEYS[fileName(file)]]: await readLines(from) } }),
          ...(clusters === undefined ? {} : { clusterIds: await idsOf(clusters) }),
          ...(regions === undefined ? {} : { regions }),
        },
      },
    )
    print('Updated', orThrow(updateSlurmConfigSnippet).slurmConfigSnippet)
  })

export const snippetDelete = () =>
  new Command('delete')
    .description('delete a snippet; `apply` then saves versions of the configurations without its lines')
    .argument('<name>')
    .requiredOption('--reason <text>', REASON)
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, { reason, yes }: { reason: string; yes?: boolean }) => {
      const { id, clusters } = await readSnippet(name)
      await confirmAction(`Delete the snippet ${name} of ${count(clusters.length, 'cluster')}.`, yes)
      const { deleteSlurmConfigSnippet } = await request(
        graphql(`mutation SnippetDelete($input: DeleteSlurmConfigSnippetInput!) {
          deleteSlurmConfigSnippet(input: $input) { __typename ... on DeleteSlurmConfigSnippetPayload { deletedId } ... on Error { code message } }
        }`),
        { input: { id, reason } },
      )
      orThrow(deleteSlurmConfigSnippet)
      process.stderr.write(`Deleted ${name}. \`muster cluster snippet apply\` removes its lines from the configurations.\n`)
    })
