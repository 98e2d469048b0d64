import { randomBytes } from 'node:crypto'
import type { NodeAccess } from '@muster/core/credentials/access'
import { ansibleResult, becomeResult, type CheckResult, pythonResult, shellFailure, shellHint } from './account-results.ts'
import { accountScript, RUN_FROM_STDIN } from './account-script.ts'
import type { ExecResult, Session } from './exec.ts'
import { printable } from './printable.ts'
import { SshFailure } from './ssh-failure.ts'
import { createStageRecorder, type OnStage } from './stage-recorder.ts'

const MAX_OUTPUT = 256 * 1024

const MAX_RESULT = 1000
/** First words of the results, in order. */
const TOPICS = ['shell', 'become', 'python', 'ansible']

export type AccountOptions = { timeoutMs: number; signal?: AbortSignal; onStage?: OnStage }

/**
 * Checks the stages SHELL, SUDO, PYTHON and ANSIBLE in one round trip and reports each when its result arrives. Only a shell that
 * runs no commands throws: a node without sudo or Python can still be discovered.
 * @throws SshFailure at SHELL
 */
export async function checkAccount(session: Session, become: NodeAccess['become'], options: AccountOptions): Promise<void> {
  const { timeoutMs } = options
  const mark = `muster-${randomBytes(9).toString('hex')}`
  const recorder = createStageRecorder({ hop: null }, options.onStage)
  const startedAt = performance.now()
  recorder.begin('SHELL')
  const report = (result: CheckResult): boolean => {
    if (result.isOk) recorder.pass(result.detail)
    else recorder.fail(result.message, result.hint)
    return result.isOk
  }
  let output = ''
  /** The line that has not ended yet. */
  let line = ''
  let topicCount = 0

  // Each result restarts the timeout for the next one.
  const timeout = new AbortController()
  const timedOut = new Error('timeout')
  let timer = setTimeout(() => timeout.abort(timedOut), timeoutMs)
  const parse = (text: string) => {
    const at = text.indexOf(`${mark} `)
    if (at === -1) return
    const [topic, ...words] = printable(text.slice(at + mark.length + 1), MAX_RESULT)
      .trimEnd()
      .split(' ')
    // Each result once and in order, because a node can read the mark and repeat results.
    if (topic !== TOPICS[topicCount]) return
    topicCount++
    if (topic === 'shell') {
      const noise = output.slice(0, output.indexOf(mark)).trim()
      recorder.pass(words[0] === '0' ? 'runs commands as root' : 'runs commands', shellHint(noise, performance.now() - startedAt))
      recorder.begin('SUDO')
    } else if (topic === 'become') {
      report(becomeResult(become, words))
      recorder.begin('PYTHON')
    } else if (topic === 'python') {
      if (report(pythonResult(words))) recorder.begin('ANSIBLE')
      else {
        recorder.skip('ANSIBLE', 'needs Python')
        topicCount++
      }
    } else report(ansibleResult(words))
    clearTimeout(timer)
    timer = setTimeout(() => timeout.abort(timedOut), timeoutMs)
  }
  const onStdout = (chunk: Buffer) => {
    const text = chunk.toString('utf8')
    output += text
    const [rest = '', ...lines] = text.split('\n')
    line += rest
    for (const next of lines) {
      parse(line)
      line = next
    }
  }

  let result: ExecResult | null = null
  try {
    const signals = options.signal ? [timeout.signal, options.signal] : [timeout.signal]
    result = await session.exec(RUN_FROM_STDIN, {
      timeoutMs: timeoutMs * 5,
      stdin: accountScript(mark, become, Math.max(1, Math.floor((timeoutMs * 0.8) / 1000))),
      maxBytes: MAX_OUTPUT,
      signal: AbortSignal.any(signals),
      onStdout,
    })
  } catch (error) {
    if (error instanceof SshFailure) throw recorder.fail(error.message, error.hint)
    if (error !== timedOut) throw error
  } finally {
    clearTimeout(timer)
  }
  if (topicCount === 0) throw recorder.fail(...shellFailure(result, output, timeoutMs))
  if (output.includes(`${mark} end`)) return
  const silent = result === null || result.timedOut
  recorder.fail(
    silent ? `There was no response within ${timeoutMs / 1000} s.` : 'It stopped during the checks.',
    'Test again; see the system log of the machine.',
  )
}
