import { spawn } from 'node:child_process'
import { collectOutput, DEFAULT_MAX_BYTES, type ExecResult, type Session } from './exec.ts'

/** This machine as a session, for nodes of connection type `local`. Each command is a process group of its own. */
export function localSession(): Session {
  return {
    close() {},
    exec: (command, { timeoutMs, stdin, maxBytes, signal, onStdout }) =>
      new Promise<ExecResult>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const output = collectOutput(maxBytes ?? DEFAULT_MAX_BYTES)
        let cut: 'truncated' | 'timedOut' | null = null
        // Nothing from this process's environment: it contains the master password.
        const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: process.env.HOME, LANG: 'C' }
        const child = spawn('/bin/sh', ['-c', command], { detached: true, env })
        const kill = () => {
          try {
            process.kill(-child.pid!, 'SIGKILL')
          } catch {
            // It has just exited.
          }
        }
        const timer = setTimeout(() => {
          cut ??= 'timedOut'
          kill()
        }, timeoutMs)
        signal?.addEventListener('abort', kill, { once: true })
        const take = (stream: 'stdout' | 'stderr') => (chunk: Buffer) => {
          if (cut) return
          if (stream === 'stdout') onStdout?.(chunk)
          if (output.add(stream, chunk)) return
          cut = 'truncated'
          kill()
        }
        child.stdout.on('data', take('stdout'))
        child.stderr.on('data', take('stderr'))
        child.stdin.on('error', () => {}).end(stdin ?? '')
        child.on('error', reject).on('close', (code, name) => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', kill)
          if (signal?.aborted) return reject(signal.reason)
          resolve({
            ...output.result(),
            code: cut ? null : code,
            signal: cut ? null : name,
            truncated: cut === 'truncated',
            timedOut: cut === 'timedOut',
          })
        })
      }),
  }
}
