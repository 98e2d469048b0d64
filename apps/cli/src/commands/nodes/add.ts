import { InvalidArgumentError } from 'commander'
import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId } from '../../lookup.ts'
import { integer, oneOf } from '../../options.ts'
import { isTable, printRows } from '../../output.ts'
import { readStdin } from '../../prompt.ts'

/** Reports with more rows list only the rows with problems. */
const MAX_LISTED_ROWS = 20

export const NODE_TYPES = ['COMPUTE', 'CONTROLLER', 'LOGIN', 'STORAGE', 'OTHER'] as const

type Options = Output & {
  user?: string
  port?: number
  credential?: string
  become?: string
  bastion?: string
  type?: (typeof NODE_TYPES)[number]
  connection?: 'SSH' | 'LOCAL'
  region?: string
  datacenter?: string
  rack?: string
  tag?: string[]
  format: 'LIST' | 'CSV' | 'INVENTORY'
  dryRun?: true
}

export const nodeAdd = () =>
  new Command('add')
    .description('add one node, or many from standard input; next step: `muster node test`')
    .argument('<address>', 'name=host, host or hostlist gpu[001-064]; - reads standard input', singleLineText)
    .option('-u, --user <user>', 'SSH user')
    .option('-p, --port <port>', 'SSH port', integer)
    .option('-c, --credential <name>', 'credential with the SSH key or password')
    .option('--become <name>', 'BECOME credential')
    .option('--bastion <name>', 'BASTION credential to connect through')
    .option('--type <type>', NODE_TYPES.join(', '), oneOf(...NODE_TYPES))
    .option('--connection <type>', "ssh or local; local is the worker's own machine and requires an admin", oneOf('SSH', 'LOCAL'))
    .option('--region <region>', 'region')
    .option('--datacenter <name>', 'data center')
    .option('--rack <rack>', 'rack')
    .option('--tag <tag...>', 'tags of the new nodes')
    .option(
      '--format <format>',
      'format of standard input: LIST, CSV or INVENTORY (Ansible, INI or YAML)',
      oneOf('LIST', 'CSV', 'INVENTORY'),
      'LIST',
    )
    .option('--dry-run', 'check every row without adding')
    .withOutput()
    .action(async (address: string, options: Options) => {
      const input = {
        format: options.format,
        text: address === '-' ? await readStdin() : address,
        defaults: {
          ...(options.user ? { sshUser: options.user } : {}),
          ...(options.port ? { port: options.port } : {}),
          ...(options.type ? { nodeType: options.type } : {}),
          ...(options.connection ? { connectionType: options.connection } : {}),
          ...(options.region ? { region: options.region } : {}),
          ...(options.datacenter ? { datacenter: options.datacenter } : {}),
          ...(options.rack ? { rack: options.rack } : {}),
          ...(options.tag ? { tags: options.tag } : {}),
          ...(options.credential ? { credentialId: await credentialId(options.credential) } : {}),
          ...(options.become ? { becomeCredentialId: await credentialId(options.become) } : {}),
          ...(options.bastion ? { bastionId: await credentialId(options.bastion) } : {}),
        },
      }
      const report = options.dryRun ? await check(input) : await add(input)
      const problems = report.rows.filter((r) => r.state === 'INVALID' || r.state === 'EXISTS')
      printRows(
        // Long reports omit rows without problems.
        isTable(options) && report.rows.length > MAX_LISTED_ROWS ? problems : report.rows,
        [
          { title: 'ROW', value: (r) => r.row },
          { title: 'STATE', value: (r) => r.state },
          { title: 'NAME', value: (r) => r.name },
          { title: 'HOST', value: (r) => r.host },
          { title: 'PROBLEM', value: (r) => r.issues.map((i) => `${i.path ? `${i.path}: ` : ''}${i.message}`).join('; ') },
        ],
        options,
        'All rows are valid.',
      )
      process.stderr.write(`${summary(report.rows.map((r) => r.state))}\n`)
      if (report.rows.some((r) => r.state === 'INVALID')) process.exitCode = EXIT.rejected
    })

function singleLineText(address: string): string {
  if (/[\r\n]/.test(address)) throw new InvalidArgumentError('It must be one line; use - to read several from standard input.')
  return address
}

const LABELS = { ADDED: 'added', VALID: 'can be added', EXISTS: 'already exist', INVALID: 'rejected' }

/** `62 added, 2 rejected`. */
function summary(states: (keyof typeof LABELS)[]): string {
  const kinds = (Object.keys(LABELS) as (keyof typeof LABELS)[]).filter((kind) => states.includes(kind))
  return kinds.map((kind) => `${states.filter((s) => s === kind).length} ${LABELS[kind]}`).join(', ')
}

type Input = { format: Options['format']; text: string; defaults: object }

async function add(input: Input) {
  const { importNodes } = await request(
    graphql(`mutation NodeAdd($input: ImportNodesInput!) {
      importNodes(input: $input) {
        __typename
        ... on ImportNodesPayload { report { rows { row source name host port state issues { path message } } addedCount failedCount } }
        ... on Error { code message }
        ... on InvalidInputError { issues { path message } }
      }
    }`),
    { input },
  )
  return orThrow(importNodes).report
}

async function check(input: Input) {
  const { checkNodeImport } = await request(
    graphql(`query NodeAddCheck($input: CheckNodeImportInput!) {
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
