import { randomBytes } from 'node:crypto'
import { outputAfter, queryScript } from '@muster/slurm'
import type { Session } from '../ssh/exec.ts'

const MAX_BYTES = 1024 * 1024
const MAX_TEXT = 1000

type CommandContext = { session: Session; programFolder: string | null; timeoutMs: number; signal: AbortSignal }

/** `text` is what the command said; null when it said nothing. An exit code of 0 does not mean that something happened. */
export type CommandOutcome = { isOk: boolean; text: string | null }

/**
 * Runs one command that changes a cluster.
 * @param argv from `actionArguments`, never from text
 * @throws SshFailure the connection was lost
 */
export async function runCommand(
  { session, programFolder, timeoutMs, signal }: CommandContext,
  argv: readonly string[],
): Promise<CommandOutcome> {
  const nonce = randomBytes(16).toString('hex')
  const ran = await session.exec('sh -s', {
    stdin: queryScript(argv, nonce, programFolder),
    timeoutMs,
    maxBytes: MAX_BYTES,
    signal,
  })
  const output = outputAfter(nonce, ran.stdout.toString('utf8')) ?? ''
  const text = [ran.stderr.toString('utf8'), output]
    .map((part) => part.trim())
    .filter(Boolean)
    .join('\n')
    .slice(0, MAX_TEXT)
  if (ran.timedOut) return { isOk: false, text: `No answer within ${timeoutMs / 1000} s.` }
  return { isOk: ran.code === 0, text: text || (ran.code === 0 ? null : `Exit code ${ran.code ?? ran.signal}.`) }
}
