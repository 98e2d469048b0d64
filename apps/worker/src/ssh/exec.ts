import type { Duplex } from 'node:stream'
import type { Client, ClientChannel } from 'ssh2'
import { SshFailure } from './ssh-failure.ts'

export type ExecOptions = {
  timeoutMs: number
  /** Sent to the command, then its input is closed. Default: empty. */
  stdin?: string | Buffer
  /** Limit of stdout and stderr together; the command is killed when it exceeds it. */
  maxBytes?: number
  signal?: AbortSignal
  /** Called with stdout as it arrives; it is also collected. */
  onStdout?: (chunk: Buffer) => void
}

/** `code` is null when a signal ended the command, or the worker killed it: `truncated` or `timedOut`. */
export type ExecResult = {
  stdout: Buffer
  stderr: Buffer
  code: number | null
  signal: string | null
  truncated: boolean
  timedOut: boolean
}

/** A machine that runs commands: over SSH, or this one. */
export type Session = {
  /**
   * @param command text for the remote login shell: a constant, never built from user input
   * @throws SshFailure when the connection is lost, the signal's reason when that fires
   */
  exec(command: string, options: ExecOptions): Promise<ExecResult>
  /**
   * Connects to a Unix socket on the machine.
   * @throws Error when it refuses, or the SSH server does not allow it; the signal's reason
   */
  connectSocket(path: string, signal: AbortSignal): Promise<Duplex>
  /** Closes the connection with all its hops. May be called twice. */
  close(): void
}

export const DEFAULT_MAX_BYTES = 4 * 1024 * 1024

/** Collects output up to a limit. `add` returns whether the limit is still respected. */
export function collectOutput(maxBytes: number) {
  const collected = { stdout: createBuffer(), stderr: createBuffer() }
  let room = maxBytes
  return {
    add(stream: 'stdout' | 'stderr', chunk: Buffer): boolean {
      if (room > 0) collected[stream].append(chunk.length > room ? chunk.subarray(0, room) : chunk)
      room -= chunk.length
      return room >= 0
    },
    result: () => ({ stdout: collected.stdout.content(), stderr: collected.stderr.content() }),
  }
}

/** A growing buffer. It copies, because a node may send single bytes, and a list of them needs a hundred times their size. */
function createBuffer() {
  let bytes = Buffer.allocUnsafe(0)
  let length = 0
  return {
    append(chunk: Buffer): void {
      if (length + chunk.length > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * bytes.length, length + chunk.length))
        bytes.copy(larger, 0, 0, length)
        bytes = larger
      }
      length += chunk.copy(bytes, length)
    },
    content: (): Buffer => bytes.subarray(0, length),
  }
}

/** Runs `command` on an open connection; see {@link Session.exec}. */
export function execOver(client: Client, command: string, options: ExecOptions): Promise<ExecResult> {
  const { timeoutMs, signal, onStdout } = options
  const failure = (message: string, hint: string | null = null) => new SshFailure({ stage: 'SHELL', hop: null }, message, hint)
  return new Promise((resolve, reject) => {
    const output = collectOutput(options.maxBytes ?? DEFAULT_MAX_BYTES)
    let channel: ClientChannel | null = null
    let exit: { code: number | null; signal: string | null } | null = null
    let isSettled = false

    const settle = (act: () => void) => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      client.off('close', lost).off('error', lost)
      act()
    }
    const end = (how: { truncated: boolean; timedOut: boolean }) =>
      settle(() => resolve({ ...output.result(), code: exit?.code ?? null, signal: exit?.signal ?? null, ...how }))
    const cut = () => {
      if (!channel) return
      // Closing alone would leave a command without output running on the node.
      sendKill(client, channel)
      channel.close()
    }
    const timer = setTimeout(() => {
      end({ truncated: false, timedOut: true })
      cut()
    }, timeoutMs)
    const abort = () => {
      settle(() => reject(signal!.reason))
      cut()
    }
    const lost = () => settle(() => reject(failure('The connection was lost while a command ran.')))
    const take = (stream: 'stdout' | 'stderr') => (chunk: Buffer) => {
      if (isSettled) return
      if (stream === 'stdout') onStdout?.(chunk)
      if (output.add(stream, chunk)) return
      end({ truncated: true, timedOut: false })
      cut()
    }

    if (signal?.aborted) return settle(() => reject(signal.reason))
    signal?.addEventListener('abort', abort, { once: true })
    client.once('close', lost).once('error', lost)
    try {
      client.exec(command, (error, opened) => {
        if (error)
          return settle(() =>
            reject(failure('The server opens no session.', 'Its MaxSessions may be used up, or the account has no shell.')),
          )
        channel = opened
        if (isSettled) return cut()
        opened
          .on('data', take('stdout'))
          .on('exit', (code: number | null, name?: string) => {
            exit = { code, signal: name ?? null }
          })
          .on('close', () => (exit ? end({ truncated: false, timedOut: false }) : lost()))
        opened.stderr.on('data', take('stderr'))
        // A command that exits before it has read its input closes the channel.
        opened.on('error', () => {})
        opened.end(options.stdin ?? '')
      })
    } catch {
      lost()
    }
  })
}

/** Connects to a Unix socket on the host of an open connection; see {@link Session.connectSocket}. */
export function connectSocketOver(client: Client, path: string, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    client.openssh_forwardOutStreamLocal(path, (error, channel) => {
      signal.removeEventListener('abort', abort)
      if (error) reject(error)
      else if (signal.aborted) channel.destroy()
      else resolve(channel)
    })
  })
}

/**
 * Sends SIGKILL to the process group of a session (RFC 4254, 6.9). Uses the layer below `channel.signal`, which sends nothing once
 * the input is closed, although the protocol allows it.
 */
function sendKill(client: Client, channel: ClientChannel): void {
  const { _protocol: protocol } = client as unknown as { _protocol: { signal(channel: number, name: string): void } }
  const { outgoing } = channel as unknown as { outgoing: { id: number; state: string } }
  if (outgoing.state === 'open' || outgoing.state === 'eof') protocol.signal(outgoing.id, 'KILL')
}
