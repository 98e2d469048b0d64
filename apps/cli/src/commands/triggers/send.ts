import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { readStdin } from '../../prompt.ts'

type Options = { data?: string; dataFile?: string; github?: true; idempotencyKey?: string }
type Answer = { run?: { number: number; url: string } | null; isRepeat?: boolean; error?: string }

export const triggerSend = () =>
  new Command('send')
    .description('send a signed request to a trigger, to test it; reads the secret from standard input and needs no login')
    .argument('<url>')
    .option('--data <json>', 'body')
    .option('--data-file <path>', 'file with the body')
    .option('--github', 'sign with X-Hub-Signature-256')
    .option('--idempotency-key <key>', 'a repeated key returns the same run instead of starting another')
    .action(async (url: string, { data, dataFile, github, idempotencyKey }: Options) => {
      const secret = (await readStdin()).trim()
      if (!secret)
        throw new CliError('Standard input must have the secret of the trigger: muster trigger send URL < FILE', EXIT.usage)
      const body = dataFile === undefined ? Buffer.from(data ?? '{}') : readBody(dataFile)
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        headers: {
          'content-type': 'application/json',
          ...signatureOf(secret, body, github ?? false),
          ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
        },
        body: new Uint8Array(body),
      }).catch((error: Error) => {
        throw new CliError(`${url} does not answer: ${(error.cause as Error)?.message ?? error.message}.`, EXIT.unavailable)
      })
      const answer = (await response.json().catch(() => ({}))) as Answer
      if (!response.ok) throw new CliError(answer.error ?? `${url} answered ${response.status}.`, EXIT.rejected)
      const { run, isRepeat } = answer
      if (!run) process.stdout.write(`${isRepeat ? 'The run of this request was deleted.' : 'Accepted; no run was started.'}\n`)
      else process.stdout.write(`${isRepeat ? 'Repeated: run' : 'Started run'} #${run.number}: ${run.url}\n`)
    })

function signatureOf(secret: string, body: Buffer, isGithub: boolean): Record<string, string> {
  const hmac = createHmac('sha256', secret)
  if (isGithub) return { 'x-hub-signature-256': `sha256=${hmac.update(body).digest('hex')}` }
  const timestamp = String(Math.floor(Date.now() / 1000))
  const digest = hmac.update(`${timestamp}.`).update(body).digest('hex')
  return { 'x-muster-timestamp': timestamp, 'x-muster-signature': `sha256=${digest}` }
}

function readBody(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new CliError(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage)
  }
}
