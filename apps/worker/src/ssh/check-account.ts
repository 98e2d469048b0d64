import { randomBytes } from 'node:crypto'
import type { NodeAccess } from '@muster/core/credentials/access'
import { accountScript, RUN_FROM_STDIN } from './account-script.ts'
import { ansibleVerdict, becomeVerdict, pythonVerdict, shellHint, shellRefusal, type Verdict } from './account-verdicts.ts'
import type { ExecResult, Session } from './exec.ts'
import { SshFailure } from './failure.ts'
import { type OnStage, walkStages } from './stages.ts'

const MAX_OUTPUT = 256 * 1024

export type AccountOptions = { timeoutMs: number; signal?: AbortSignal; onStage?: OnStage }

/**
 * Stages SHELL, SUDO, PYTHON and ANSIBLE in one round trip, each told of when its answer comes. Only a shell that does
 * not run commands throws: a node without sudo or Python can still be looked at.
 * @throws SshFailure at SHELL
 */
export async function checkAccount(session: Session, become: NodeAccess['become'], options: AccountOptions): Promise<void> {
  const { timeoutMs } = options
  const mark = `muster-${randomBytes(9).toString('hex')}`
  const walk = walkStages({ hop: null }, options.onStage)
  const begun = performance.now()
  walk.begin('SHELL')
  const tell = (verdict: Verdict): boolean => {
    if (verdict.isOk) walk.pass(verdict.detail)
    else walk.fail(verdict.message, verdict.hint)
    return verdict.isOk
  }
  let said = ''
  let seen = 0
  let isShellOk = false

  // Each answer gives the next one its own time.
  const clock = new AbortController()
  const silence = new Error('silence')
  let timer = setTimeout(() => clock.abort(silence), timeoutMs)
  const onStdout = (chunk: Buffer) => {
    said += chunk.toString('utf8')
    const lines = said.split('\n')
    for (; seen < lines.length - 1; seen++) {
      const at = lines[seen]!.indexOf(`${mark} `)
      if (at === -1) continue
      const [topic, ...words] = lines[seen]!.slice(at + mark.length + 1)
        .trimEnd()
        .split(' ')
      if (topic === 'shell') {
        isShellOk = true
        const noise = said.slice(0, said.indexOf(mark)).trim()
        walk.pass(words[0] === '0' ? 'runs commands as root' : 'runs commands', shellHint(noise, performance.now() - begun))
        walk.begin('SUDO')
      } else if (topic === 'become') {
        tell(becomeVerdict(become, words))
        walk.begin('PYTHON')
      } else if (topic === 'python') {
        if (tell(pythonVerdict(words))) walk.begin('ANSIBLE')
        else walk.skip('ANSIBLE', 'needs Python')
      } else if (topic === 'ansible' && walk.current === 'ANSIBLE') tell(ansibleVerdict(words))
      clearTimeout(timer)
      timer = setTimeout(() => clock.abort(silence), timeoutMs)
    }
  }

  let result: ExecResult | null = null
  try {
    const signals = options.signal ? [clock.signal, options.signal] : [clock.signal]
    result = await session.exec(RUN_FROM_STDIN, {
      timeoutMs: timeoutMs * 5,
      stdin: accountScript(mark, become, Math.max(1, Math.floor((timeoutMs * 0.8) / 1000))),
      maxBytes: MAX_OUTPUT,
      signal: AbortSignal.any(signals),
      onStdout,
    })
  } catch (error) {
    if (error instanceof SshFailure) throw walk.fail(error.message, error.hint)
    if (error !== silence) throw error
  } finally {
    clearTimeout(timer)
  }
  if (!isShellOk) throw walk.fail(...shellRefusal(result, said, timeoutMs))
  if (said.includes(`${mark} end`)) return
  const silent = result === null || result.timedOut
  walk.fail(
    silent ? `There was no answer within ${timeoutMs / 1000} s.` : 'It stopped in the middle of the checks.',
    'Test again; the system log of the machine may say more.',
  )
}
