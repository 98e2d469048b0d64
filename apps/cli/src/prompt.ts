import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { CliError, EXIT } from './errors.ts'

/** Ask on the terminal; `instead` is the option that answers without one. `hidden` does not echo. @throws CliError when there is no terminal to ask on */
export async function ask(question: string, instead: string, options: { hidden?: boolean } = {}): Promise<string> {
  if (!process.stdin.isTTY)
    throw new CliError(`${question} cannot be asked for: there is no terminal. Use ${instead}.`, EXIT.usage)
  process.stderr.write(`${question}: `)
  const output = options.hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve)
      // Ctrl-C; Ctrl-D or a terminal that is gone. After a line a refusal changes nothing any more.
      for (const end of ['SIGINT', 'close']) lines.once(end, () => reject(new CliError('Stopped.', EXIT.interrupted)))
    })
  } finally {
    lines.close()
    if (options.hidden) process.stderr.write('\n')
  }
}

/** All of standard input, without the final newline: how secrets are given in scripts, since arguments can be seen by others. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
