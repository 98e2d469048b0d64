import { endChildren, progress, StepFailed } from './step.mjs'
import { signals, verbs } from './verbs.mjs'

/**
 * Do a verb and end with its exit code; 1 is a failed step, 2 a wrong call.
 * @param {string[]} argv the verb and its arguments
 */
export async function main([verb, ...args]) {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    fail(
      2,
      `Muster needs Node >= 20 to set itself up; this is ${process.version}. Install a newer one, then run the same command again.`,
    )
  }
  if (!verb || !Object.hasOwn(verbs, verb)) {
    fail(2, `${verb ? `There is no "${verb}". ` : ''}Say one of: ${Object.keys(verbs).join(', ')}.`)
  }
  if (verb === 'run') progress.out = process.stderr
  signals.handler = (signal) => {
    endChildren()
    process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => signals.handler(signal))
  try {
    process.exitCode = await verbs[verb](args)
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    const parts = [`${error.step ?? 'Set-up'} failed: ${error.message}`, error.detail, error.hint && `What to do: ${error.hint}`]
    fail(1, `\n${parts.filter(Boolean).join('\n\n')}`)
  }
}

function fail(code, text) {
  console.error(text)
  process.exit(code)
}
