import { randomBytes } from 'node:crypto'
import { outputAfter, queryScript } from '@muster/slurm'
import type { Session } from '../ssh/exec.ts'

const MAX_BYTES = 1024 * 1024
const MAX_TEXT = 1000

export type CommandContext = { session: Session; programFolder: string | null; timeoutMs: number; signal: AbortSignal }

/**
 * `text` is what the command printed; null when it printed nothing. An exit code of 0 does not mean that something happened. UNKNOWN:
 * nobody answered in time, and the controller may still execute it.
 */
export type CommandOutcome = { answer: 'ACCEPTED' | 'REFUSED' | 'UNKNOWN'; text: string | null }

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
  if (ran.timedOut) return { answer: 'UNKNOWN', text: `No answer within ${timeoutMs / 1000} s.` }
  if (ran.code === 0) return { answer: 'ACCEPTED', text: text || null }
  const isUnknown = ran.code === null || /Socket timed out/i.test(text)
  return { answer: isUnknown ? 'UNKNOWN' : 'REFUSED', text: text || `Exit code ${ran.code ?? ran.signal}.` }
}
