import { once } from 'node:events'
import { connect } from 'node:net'
import { startProgram } from '../executor/executor.ts'
import { sendSignal } from '../executor/send-signal.ts'
import { collectOutput, DEFAULT_MAX_BYTES, type Session } from './exec.ts'

/** This machine as a session, for nodes of connection type `local`. Each command is a process group of its own. */
export function localSession(): Session {
  return {
    close() {},
    async connectSocket(path, signal) {
      const socket = connect(path)
      try {
        await once(socket, 'connect', { signal })
      } catch (error) {
        socket.destroy()
        throw signal.aborted ? signal.reason : error
      }
      return socket
    },
    async exec(command, { timeoutMs, stdin, maxBytes, signal, onStdout }) {
      signal?.throwIfAborted()
      const output = collectOutput(maxBytes ?? DEFAULT_MAX_BYTES)
      let cut: 'truncated' | 'timedOut' | null = null
      // Nothing from this process's environment: it may contain secrets.
      const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: process.env.HOME, LANG: 'C' }
      const program = await startProgram(['/bin/sh', '-c', command], { env, stdin: stdin ?? '' })
      const kill = () => sendSignal(-program.pid, 'SIGKILL')
      const timer = setTimeout(() => {
        cut ??= 'timedOut'
        kill()
      }, timeoutMs)
      signal?.addEventListener('abort', kill, { once: true })
      if (signal?.aborted) kill()
      for (const [i, stream] of (['stdout', 'stderr'] as const).entries())
        program.outputs[i]!.on('data', (chunk: Buffer) => {
          if (cut) return
          if (stream === 'stdout') onStdout?.(chunk)
          if (output.add(stream, chunk)) return
          cut = 'truncated'
          kill()
        })
      const { code, signal: name } = await program.closed
      clearTimeout(timer)
      signal?.removeEventListener('abort', kill)
      signal?.throwIfAborted()
      return {
        ...output.result(),
        code: cut ? null : code,
        signal: cut ? null : name,
        truncated: cut === 'truncated',
        timedOut: cut === 'timedOut',
      }
    },
  }
}
