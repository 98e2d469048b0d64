import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { CliError, EXIT } from './errors.ts'

/**
 * Asks on the terminal. `hidden` disables echo.
 * @param alternative the option that provides the answer without a terminal
 * @throws CliError without a terminal
 */
export async function prompt(question: string, alternative: string, options: { hidden?: boolean } = {}): Promise<string> {
  if (!process.stdin.isTTY)
    throw new CliError(`Cannot ask for ${question.toLowerCase()} without a terminal. Use ${alternative}.`, EXIT.usage)
  process.stderr.write(`${question}: `)
  const output = options.hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve)
      // Ctrl-C, Ctrl-D or a closed terminal. Has no effect once a line has resolved the promise.
      for (const end of ['SIGINT', 'close']) lines.once(end, () => reject(new CliError('Interrupted.', EXIT.interrupted)))
    })
  } finally {
    lines.close()
    if (options.hidden) process.stderr.write('\n')
  }
}

/** Reads standard input without its final newline. Scripts pass secrets this way, because other users can see arguments. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}

/**
 * Asks for secrets, or reads them from standard input, one per line. An empty answer omits one.
 * @returns the answers by field
 */
export async function askSecrets(
  questions: { field: string; question: string }[],
  stdin: true | undefined,
): Promise<Record<string, string>> {
  const lines = stdin ? (await readStdin()).split('\n') : []
  const secrets: Record<string, string> = {}
  for (const [i, { field, question }] of questions.entries()) {
    const value = stdin ? lines[i]?.trim() : await prompt(question, '--stdin', { hidden: true })
    if (value) secrets[field] = value
  }
  return secrets
}
