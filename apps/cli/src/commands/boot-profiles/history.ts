import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { readProfile } from './read.ts'

const notFound = (name: string) => new CliError(`No boot profile named ${name}. See \`muster boot-profile list\`.`, EXIT.notFound)

const HISTORY = graphql(`query BootProfileHistory($name: String!, $first: Int, $after: String) {
  bootProfile(name: $name) {
    versions(first: $first, after: $after) {
      edges { node { number createdAt createdBy { name } comment changes { field before after } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)

export const bootProfileHistory = () =>
  new Command('history')
    .description('list the versions of a boot profile, newest first')
    .argument('<profile>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const versions = await fetchAll(async (page) => {
        const { bootProfile } = await request(HISTORY, { name, ...page })
        if (!bootProfile) throw notFound(name)
        return bootProfile.versions
      })
      printRows(
        versions,
        [
          { title: 'VERSION', value: (each) => each.number },
          { title: 'CREATED', value: (each) => ago(each.createdAt) },
          { title: 'BY', value: (each) => each.createdBy.name },
          { title: 'CHANGES', value: (each) => each.changes.map(({ field }) => field).join(', ') },
          { title: 'COMMENT', value: (each) => each.comment },
        ],
        output,
      )
    })

const DIFF = graphql(`query BootProfileDiff($name: String!, $from: Int!, $to: Int) {
  bootProfile(name: $name) { diff(from: $from, to: $to) { field before after } }
}`)

const NUMBER = 'version number, see `muster boot-profile history`'
/** A value of a field in one line of a table. */
const shown = (value: unknown): string | null =>
  value === null || value === '' ? null : typeof value === 'string' ? value : JSON.stringify(value)

export const bootProfileDiff = () =>
  new Command('diff')
    .description('show the fields that differ between two versions of a boot profile')
    .argument('<profile>')
    .argument('<from>', NUMBER, integer)
    .argument('[to]', 'default: the newest version', integer)
    .withOutput()
    .action(async (name: string, from: number, to: number | undefined, output: Output) => {
      const { bootProfile } = await request(DIFF, { name, from, to: to ?? null })
      if (!bootProfile) throw notFound(name)
      printRows(
        bootProfile.diff,
        [
          { title: 'FIELD', value: (each) => each.field },
          { title: 'BEFORE', value: (each) => shown(each.before) },
          { title: 'AFTER', value: (each) => shown(each.after) },
        ],
        output,
        'The versions are the same.',
      )
    })

export const bootProfileRestore = () =>
  new Command('restore')
    .description('save the fields of an earlier version of a boot profile as a new version')
    .argument('<profile>')
    .argument('<version>', NUMBER, integer)
    .option('--comment <text>', 'why, for the history')
    .action(async (name: string, number: number, { comment }: { comment?: string }) => {
      const { id, version } = await readProfile(name)
      const { restoreBootProfile } = await request(
        graphql(`mutation BootProfileRestore($input: RestoreBootProfileInput!) {
          restoreBootProfile(input: $input) {
            __typename ... on RestoreBootProfilePayload { bootProfile { version } }
            ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { id, version, number, ...(comment ? { comment } : {}) } },
      )
      const restored = orThrow(restoreBootProfile).bootProfile
      process.stderr.write(`Restored version ${number} of ${name}: version ${restored.version}.\n`)
    })
