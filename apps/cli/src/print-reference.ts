import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { ENTRIES } from './commands/index.ts'
import { HELP, program } from './main.ts'

const FILE = fileURLToPath(new URL('../../../docs/cli.md', import.meta.url))

/** The reference of all commands in Markdown. */
export async function reference(): Promise<string> {
  const muster = await program()
  const headings = [...new Set(ENTRIES.map((entry) => entry.heading))]
  const sections = headings.flatMap((heading) => [
    `## ${heading.replace(/:$/, '')}`,
    ...ENTRIES.filter((entry) => entry.heading === heading).flatMap((entry) =>
      describe(muster.commands.find((command) => command.name() === entry.name)!, 'muster'),
    ),
  ])
  return `${[
    '# CLI reference',
    'Generated from the commands by `npm run gen`; do not edit. `muster COMMAND --help` prints the same.',
    `\`\`\`text${HELP}\n\`\`\``,
    'Shell completion: `source <(muster completion bash)` in `~/.bashrc`, `source <(muster completion zsh)` in `~/.zshrc`, or `muster completion fish > ~/.config/fish/completions/muster.fish`.',
    ...sections,
  ].join('\n\n')}\n`
}

/** One section for a command, then one for each subcommand. */
function describe(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`
  const isGroup = command.commands.length > 0
  const usage = command.usage().replace(/^\[options\] ?/, '')
  const rows = [
    ...command.registeredArguments.map((each) => [`\`${each.name()}\``, each.description]),
    ...command.options.map((each) => [`\`${each.flags}\``, `${each.description}${defaultOf(each.defaultValue)}`]),
  ].filter(([, text]) => text)
  return [
    `${isGroup ? '###' : '####'} ${name}`,
    `${capitalize(command.description())}.${aliasesOf(command)}`,
    ...(isGroup ? [] : [`\`\`\`text\n${`${name} ${usage}`.trim()}\n\`\`\``]),
    ...(rows.length > 0
      ? [['| | |', '|---|---|', ...rows.map(([left, right]) => `| ${escapeCell(left!)} | ${escapeCell(right!)} |`)].join('\n')]
      : []),
    ...command.commands.flatMap((child) => describe(child, name)),
  ]
}

const aliasesOf = (command: Command) =>
  command.aliases().length > 0
    ? ` Aliases: ${command
        .aliases()
        .map((alias) => `\`${alias}\``)
        .join(', ')}.`
    : ''
const defaultOf = (value: unknown) =>
  value === undefined || typeof value === 'boolean' || value === 0 ? '' : ` (default: ${value})`
const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
const escapeCell = (text: string) => text.replaceAll('|', '\\|')

// `--check` compares the file with the commands instead of writing it.
if (import.meta.main) {
  const text = await reference()
  if (!process.argv.includes('--check')) writeFileSync(FILE, text)
  else if (readFileSync(FILE, 'utf8') !== text) {
    process.stderr.write('docs/cli.md is not current. Run `npm run gen` and commit it.\n')
    process.exitCode = 1
  }
}
