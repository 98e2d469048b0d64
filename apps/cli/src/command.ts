import { Command as CommanderCommand, Option } from 'commander'

export const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const
export type Format = (typeof FORMATS)[number]
/** The options of every command that prints objects. */
export type Output = { output: Format; headers: boolean }

/** A command of `muster`. */
export class Command extends CommanderCommand {
  override createCommand(name?: string): Command {
    return new Command(name)
  }

  /** Adds `-o, --output` and `--no-headers`. */
  withOutput(description = 'output format: table, wide (all columns), name (one name per line), json or yaml'): this {
    return this.addOption(new Option('-o, --output <format>', description).choices(FORMATS).default('table')).option(
      '--no-headers',
      'print tables without the header row',
    )
  }
}

/** Aliases of common verbs, as kubectl and docker users type them. */
const VERB_ALIASES: Record<string, string[]> = {
  list: ['ls'],
  get: ['show', 'describe'],
  create: ['add'],
  add: ['create'],
  delete: ['rm'],
}

/** A command with subcommands. An alias never hides a subcommand of the same name. */
export function commandGroup(name: string, subcommands: Command[]): Command {
  const group = new Command(name)
  const names = new Set(subcommands.map((each) => each.name()))
  for (const subcommand of subcommands) {
    const aliases = (VERB_ALIASES[subcommand.name()] ?? []).filter((alias) => !names.has(alias))
    group.addCommand(subcommand.aliases(aliases))
  }
  return group
}
