import { commands, signals } from './commands.mjs'
import { killChildren, progress, StepFailed } from './step.mjs'

/**
 * Runs a command and sets its exit code; 1 for a failed setup step, 2 for invalid usage.
 * @param {string[]} argv the command and its arguments
 */
export async function main([command, ...args]) {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    fail(2, `Muster requires Node >= 20; this is ${process.version}. Install a newer version, then run the command again.`)
  }
  if (!command || !Object.hasOwn(commands, command)) {
    fail(2, `${command ? `Unknown command "${command}". ` : ''}Commands: ${Object.keys(commands).join(', ')}.`)
  }
  if (command === 'cli' || command === 'admin') progress.out = process.stderr
  signals.handler = (signal) => {
    killChildren()
    process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => signals.handler(signal))
  try {
    process.exitCode = await commands[command](args)
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    const parts = [`${error.step ?? 'Setup'} failed: ${error.message}`, error.detail, error.hint && `Next step: ${error.hint}`]
    fail(1, `\n${parts.filter(Boolean).join('\n\n')}`)
  }
}

function fail(code, text) {
  console.error(text)
  process.exit(code)
}
