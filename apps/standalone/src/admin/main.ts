import { readSettings } from '../settings.ts'
import { type AdminCommand, UsageError } from './command.ts'
import { commands } from './commands.ts'

// `bin/muster-admin COMMAND`: maintenance on the server, with the settings of `npm start`.
// Exit code 1 when the command fails, 2 for invalid usage or settings.
const [name = 'help', ...args] = process.argv.slice(2)
const command: AdminCommand | undefined = Object.hasOwn(commands, name) ? commands[name] : undefined

if (['help', '--help', '-h'].includes(name)) {
  process.stdout.write(usage())
} else if (!command) {
  process.stderr.write(`Unknown command "${name}".\n\n${usage()}`)
  process.exitCode = 2
} else if (args.includes('--help') || args.includes('-h')) {
  process.stdout.write(`Usage: bin/muster-admin ${name}${command.arguments && ` ${command.arguments}`}\n\n${command.help}\n`)
} else {
  try {
    process.exitCode = await command.run(args, readSettings([], process.env))
  } catch (error) {
    const { message } = error as Error
    const isUsage = error instanceof UsageError || message.startsWith('Invalid configuration')
    process.stderr.write(
      `${message}\n${error instanceof UsageError ? `Usage: bin/muster-admin ${name} ${command.arguments}\n` : ''}`,
    )
    process.exitCode = isUsage ? 2 : 1
  }
}

function usage(): string {
  const lines = Object.entries(commands).map(
    ([each, { arguments: taken, summary }]) => `  ${`${each} ${taken}`.padEnd(34)} ${summary}`,
  )
  return `Usage: bin/muster-admin COMMAND\n\n${lines.join('\n')}\n`
}
