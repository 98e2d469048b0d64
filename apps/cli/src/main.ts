import { type Command as CommanderCommand, CommanderError } from 'commander'
import { Command } from './command.ts'
import { ENTRIES, type Entry } from './commands/index.ts'
import { CliError, EXIT } from './errors.ts'
import { VERSION } from './version.ts'

/** Text after the list of commands in `muster --help`. */
export const HELP = `
Verbs may also come first, as with kubectl: \`muster get nodes\`, \`muster describe node gpu01\`.

SELECTOR arguments have the syntax of a run's --limit: gpu01, gpu[01-08], gpu*, @group, tag:x, status:READY,
vendor:nvidia, xname:x1000c0*, nid:1-64, bmc:10.0.1.*, mac:02:00:5e:*, {query}, all; a comma joins,
! excludes. RUN is a run number or ID, or \`last\`.

Environment variables:
  MUSTER_URL           address of the console; overrides the saved one
  MUSTER_TOKEN         API token; overrides the saved one
  MUSTER_TENANT        tenant to work in, as --tenant; needs a token of it (muster login URL --tenant NAME)
  XDG_CONFIG_HOME      folder of muster/cli.json with the saved address and token (default: ~/.config)
  OPENCHAMI_TOKEN      JWT for the services of OpenCHAMI, in \`muster openchami\`
  NODE_EXTRA_CA_CERTS  file with additional certificate authorities
  NO_COLOR             prints logs without colors
  VISUAL, EDITOR       editor of \`muster vars edit\`

Exit codes:
  0 success            3 not signed in or forbidden       5 rejected by the server
  1 failure            4 not found                        6 server unreachable
  2 invalid usage    130 interrupted
  A followed run that did not succeed: 10 PARTIAL, 11 FAILED, 12 CANCELED, 13 TIMED_OUT, 14 ERROR`

/**
 * The command tree.
 * @param needed names the commands to load; the others have only a name and a description
 */
export async function program(needed: (entry: Entry) => boolean = () => true): Promise<Command> {
  const muster = new Command('muster')
    .description('Manage nodes, credentials, variables and Ansible runs of a Muster installation.')
    .version(VERSION)
    .option('--tenant <name>', 'tenant to work in (default: the one of the last login)')
    .hook('preAction', (muster) => {
      const { tenant } = muster.opts<{ tenant?: string }>()
      if (tenant) process.env.MUSTER_TENANT = tenant
    })
    // Options after a subcommand belong to that subcommand.
    .enablePositionalOptions()
    .addHelpText('after', HELP)
  for (const entry of ENTRIES) {
    const command = needed(entry) ? await entry.load() : new Command(entry.name)
    muster.addCommand(
      command
        .description(entry.description)
        .aliases(entry.aliases ?? [])
        .helpGroup(entry.heading),
    )
  }
  return muster
}

const VERBS = new Set(['get', 'list', 'describe', 'create', 'update', 'delete'])
const hasName = (entry: Entry, name: string | undefined) => entry.name === name || entry.aliases?.includes(name ?? '')

/** `get nodes` -> `node list`, `delete group g` -> `group delete g`: the word order of kubectl. */
function nounFirst(argv: string[]): string[] {
  const [verb, noun, ...rest] = argv
  const entry = VERBS.has(verb ?? '') ? ENTRIES.find((each) => hasName(each, noun)) : undefined
  if (!entry) return argv
  const isList = verb === 'get' && (rest[0] ?? '-').startsWith('-')
  return [entry.name, isList ? 'list' : verb!, ...rest]
}

/** @returns the exit code; every error is one message on stderr, never a stack trace */
export async function main(argv: string[]): Promise<number> {
  try {
    // Options of muster itself precede the command.
    const first = argv[0] === '--tenant' ? 2 : argv[0]?.startsWith('--tenant=') ? 1 : 0
    const args = nounFirst(argv.slice(first))
    const one = ENTRIES.find((entry) => hasName(entry, args[0]))
    const isOverview = args.length === 0 || (args[0]?.startsWith('-') ?? false)
    const muster = await program(one ? (entry) => entry === one : () => !isOverview)
    if (!one && !isOverview) (await import('./completion.ts')).addCompletion(muster)
    for (const command of commandsOf(muster)) command.exitOverride().showHelpAfterError('(see --help)')
    await muster.parseAsync([...argv.slice(0, first), ...args], { from: 'user' })
    return Number(process.exitCode ?? EXIT.ok)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    const { plain } = await import('./output.ts')
    if (error instanceof CliError) {
      process.stderr.write(plain(`${error.message}\n`, false))
      return error.exitCode
    }
    process.stderr.write(plain(`muster: ${error instanceof Error ? error.message : error}\n`, false))
    return EXIT.failed
  }
}

/** A command and all its subcommands. */
export function* commandsOf(command: CommanderCommand): Generator<CommanderCommand> {
  yield command
  for (const child of command.commands) yield* commandsOf(child)
}

if (import.meta.main) {
  // A reader that exits early (`muster logs | head`) is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed))
  process.exitCode = await main(process.argv.slice(2))
}
