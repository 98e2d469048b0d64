import { Command, InvalidArgumentError } from 'commander'
import { request } from '../../client.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId } from '../../ids.ts'
import { integer, oneOf } from '../../options.ts'
import { type Format, outputOption, printRows } from '../../output.ts'
import { readStdin } from '../../prompt.ts'

const FEW = 20

type Options = {
  output: Format
  user?: string
  port?: number
  credential?: string
  become?: string
  bastion?: string
  tag?: string[]
  format: 'LIST' | 'CSV' | 'INVENTORY'
  dryRun?: true
}

export const nodeAdd = () =>
  new Command('add')
    .description('add one node, or many from standard input; `muster node test` comes next')
    .argument('<address>', 'name=host, a host, or a hostlist gpu[001-064]; - reads many from standard input', oneLine)
    .option('-u, --user <user>', 'SSH user')
    .option('-p, --port <port>', 'SSH port', integer)
    .option('-c, --credential <name>', 'SSH key or password to log in with')
    .option('--become <name>', 'credential to become root with')
    .option('--bastion <name>', 'bastion credential to go through')
    .option('--tag <tag...>', 'tags for all of them')
    .option(
      '--format <format>',
      'what standard input holds: LIST, CSV or INVENTORY (Ansible, INI or YAML)',
      oneOf('LIST', 'CSV', 'INVENTORY'),
      'LIST',
    )
    .option('--dry-run', 'check every row and add nothing')
    .addOption(outputOption())
    .action(async (address: string, options: Options) => {
      const input = {
        format: options.format,
        text: address === '-' ? await readStdin() : address,
        defaults: {
          ...(options.user ? { sshUser: options.user } : {}),
          ...(options.port ? { port: options.port } : {}),
          ...(options.tag ? { tags: options.tag } : {}),
          ...(options.credential ? { credentialId: await credentialId(options.credential) } : {}),
          ...(options.become ? { becomeCredentialId: await credentialId(options.become) } : {}),
          ...(options.bastion ? { bastionId: await credentialId(options.bastion) } : {}),
        },
      }
      const report = options.dryRun ? await check(input) : await add(input)
      const wrong = report.rows.filter((r) => r.state === 'INVALID' || r.state === 'EXISTS')
      printRows(
        // Of many, those that went well need no line each.
        options.output === 'table' && report.rows.length > FEW ? wrong : report.rows,
        [
          { title: 'ROW', value: (r) => r.row },
          { title: 'STATE', value: (r) => r.state },
          { title: 'NAME', value: (r) => r.name },
          { title: 'HOST', value: (r) => r.host },
          { title: 'WHY', value: (r) => r.issues.map((i) => `${i.path ? `${i.path}: ` : ''}${i.message}`).join('; ') },
        ],
        options.output,
        'All rows are right.',
      )
      process.stderr.write(`${summary(report.rows.map((r) => r.state))}\n`)
      if (report.rows.some((r) => r.state === 'INVALID')) process.exitCode = EXIT.refused
    })

function oneLine(address: string): string {
  if (/[\r\n]/.test(address)) throw new InvalidArgumentError('It must be one line; give several with - on standard input.')
  return address
}

const SAID = { ADDED: 'added', VALID: 'can be added', EXISTS: 'there already', INVALID: 'refused' }

/** `62 added, 2 refused`. */
function summary(states: (keyof typeof SAID)[]): string {
  const kinds = (Object.keys(SAID) as (keyof typeof SAID)[]).filter((kind) => states.includes(kind))
  return kinds.map((kind) => `${states.filter((s) => s === kind).length} ${SAID[kind]}`).join(', ')
}

type Input = { format: Options['format']; text: string; defaults: object }

async function add(input: Input) {
  const { importNodes } = await request(
    graphql(`mutation NodeAdd($input: NodeImportInput!) {
      importNodes(input: $input) {
        __typename
        ... on NodeImportReport { rows { row source name host port state issues { path message } } addedCount failedCount }
        ... on Error { code message }
        ... on InvalidInputError { issues { path message } }
      }
    }`),
    { input },
  )
  return orThrow(importNodes)
}

async function check(input: Input) {
  const { checkNodeImport } = await request(
    graphql(`query NodeAddCheck($input: NodeImportInput!) {
      checkNodeImport(input: $input) {
        __typename
        ... on NodeImportReport { rows { row source name host port state issues { path message } } addedCount failedCount }
        ... on Error { code message }
        ... on InvalidInputError { issues { path message } }
      }
    }`),
    { input },
  )
  return orThrow(checkNodeImport)
}
