import type { Duplex } from 'node:stream'
import { fingerprint } from '@muster/core/nodes'
import { Client, type ServerHostKeyAlgorithm } from 'ssh2'
import { type Authentication, authentication } from './authenticate.ts'
import { printable } from './printable.ts'
import type { StageRecorder } from './stage-recorder.ts'
import type { Target } from './target.ts'

const HOST_KEY_ALGORITHMS: ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]
/** Bytes of a greeting to quote when the server does not speak SSH. */
const GREETING_BYTES = 4096
/** Time that a server with another greeting gets to send an SSH one. */
const WRONG_GREETING_MS = 1000

/** Prefers the algorithms of the pinned key: a server with several keys then presents the known one. */
function hostKeyAlgorithms(pinned: string | null): ServerHostKeyAlgorithm[] {
  const type = pinned?.split(' ')[0]
  const isPinned = (name: string) => name === type || (type === 'ssh-rsa' && name.startsWith('rsa-'))
  return [...HOST_KEY_ALGORITHMS.filter(isPinned), ...HOST_KEY_ALGORITHMS.filter((name) => !isPinned(name))]
}

/** Converts a public key from SSH wire format (RFC 4253, 6.6) to `type base64`. */
function keyText(wire: Buffer): string {
  return `${wire.toString('latin1', 4, 4 + wire.readUInt32BE(0))} ${wire.toString('base64')}`
}

/**
 * Stages BANNER, HOST_KEY and AUTHENTICATION over `sock`. Authentication starts only when the host key matches the pinned one.
 * Without a pinned key the server only proves that it holds its key, and the failure carries that key.
 * @throws SshFailure; `sock` is then destroyed
 */
export function performHandshake(
  sock: Duplex,
  target: Target,
  recorder: StageRecorder,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Client> {
  const client = new Client()
  return new Promise<Client>((resolve, reject) => {
    let auth: Authentication
    let greeting = ''
    let isWrongGreeting = false
    let offered: string | null = null
    let timer: NodeJS.Timeout
    let isSettled = false

    const finish = (error: unknown) => {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      sock.off('data', listen)
      if (!error) return resolve(client)
      reject(error)
      sock.destroy()
    }
    const fail = (...reason: Parameters<StageRecorder['fail']>) => {
      if (!isSettled) finish(recorder.fail(...reason))
    }
    const offer = (changed: boolean) => ({ ...target.owner, key: offered!, fingerprint: fingerprint(offered!), changed })
    const abort = () => finish(signal.reason)
    const arm = (ms: number, late: () => void) => {
      clearTimeout(timer)
      timer = setTimeout(late, ms)
    }
    const begin = (stage: 'BANNER' | 'HOST_KEY' | 'AUTHENTICATION') => {
      recorder.begin(stage)
      arm(timeoutMs, () => fail(...timeoutReason(stage, greeting, timeoutMs)))
    }
    const listen = (chunk: Buffer) => {
      greeting = (greeting + chunk.toString('latin1')).slice(0, GREETING_BYTES)
      const ident = /^SSH-(\d+\.\d+)-[^\r\n]*(?=\r?\n)/m.exec(greeting)
      if (ident) {
        sock.off('data', listen)
        if (ident[1] !== '2.0' && ident[1] !== '1.99') return fail(`It speaks SSH ${ident[1]}.`, 'Only SSH 2 is supported.')
        recorder.pass(printable(ident[0]))
        begin('HOST_KEY')
      } else if (greeting.length === GREETING_BYTES) fail(...timeoutReason('BANNER', greeting, timeoutMs))
      else if (!isWrongGreeting && !'SSH-'.startsWith(greeting.slice(0, 4))) {
        // Not for each line: a server could send lines forever.
        isWrongGreeting = true
        arm(Math.min(WRONG_GREETING_MS, timeoutMs), () => fail(...timeoutReason('BANNER', greeting, timeoutMs)))
      }
    }

    if (signal.aborted) return finish(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    client
      .on('error', (error) => fail(...failureReason(recorder, error, greeting, auth)))
      .on('close', () => fail(...closedReason(recorder, greeting, auth)))
      .on('handshake', () => {
        if (isSettled || !offered) return
        if (!target.hostKey)
          return fail(
            `Its host key has not been approved: ${fingerprint(offered)}.`,
            'Compare the fingerprint with the one on the machine, then approve it.',
            offer(false),
          )
        recorder.pass(`${offered.split(' ')[0]} ${fingerprint(offered)}`)
        begin('AUTHENTICATION')
      })
      .on('change password', () =>
        fail(`The password of ${target.login.username} has expired.`, 'Sign in manually and set a new one.'),
      )
      .on('ready', () => {
        recorder.pass(auth.success())
        finish(null)
      })
    begin('BANNER')
    try {
      auth = authentication(target.login)
      client.connect({
        sock,
        username: target.login.username,
        readyTimeout: 0,
        keepaliveInterval: 15_000,
        algorithms: {
          // Finite-field Diffie-Hellman blocks the event loop.
          kex: [
            'curve25519-sha256',
            'curve25519-sha256@libssh.org',
            'ecdh-sha2-nistp256',
            'ecdh-sha2-nistp384',
            'ecdh-sha2-nistp521',
          ],
          serverHostKey: hostKeyAlgorithms(target.hostKey),
          compress: ['none'],
        },
        hostVerifier: (wire: Buffer) => {
          offered = keyText(wire)
          if (!target.hostKey || offered === target.hostKey) return true
          fail(
            `Its host key has changed: ${fingerprint(offered)} instead of ${fingerprint(target.hostKey)}.`,
            'If the machine was reinstalled, approve the new key; otherwise somebody may intercept the connection.',
            offer(true),
          )
          return false
        },
        // Send no secret before the host key matches the pinned one.
        authHandler: (allowed) => offered === target.hostKey && auth.next(allowed),
      })
      // After connect(), which pauses the socket: reading starts once ssh2 listens as well.
      sock.on('data', listen)
    } catch (error) {
      recorder.begin('AUTHENTICATION')
      fail(`The private key cannot be used: ${tidy((error as Error).message)}.`, 'Save the credential again with its passphrase.')
    }
  })
}

type Explanation = [message: string, hint: string | null]

function failureReason(
  recorder: StageRecorder,
  error: Error & { level?: string },
  greeting: string,
  auth: Authentication,
): Explanation {
  if (error.level === 'client-authentication') return auth.rejection()
  if (recorder.current === 'BANNER' && greeting) return timeoutReason('BANNER', greeting, 0)
  if (/no matching key exchange/i.test(error.message))
    return ['It offers no supported key exchange.', 'Supported are curve25519 and ECDH, available since OpenSSH 5.7.']
  if (/no matching/i.test(error.message)) return [`${tidy(error.message)}.`, 'Its SSH server is too old or too restricted.']
  if (error.level === 'client-socket' || error.message === 'Connection lost before handshake')
    return closedReason(recorder, greeting, auth)
  return [`${tidy(error.message)}.`, null]
}

function closedReason(recorder: StageRecorder, greeting: string, auth: Authentication | undefined): Explanation {
  if (recorder.current === 'AUTHENTICATION' && auth) {
    const [message, hint] = auth.rejection()
    return [`The server closed the connection. ${message}`, hint]
  }
  if (recorder.current === 'BANNER' && greeting) return timeoutReason('BANNER', greeting, 0)
  return [
    'It accepted the connection and closed it without a greeting.',
    'Its sshd may be overloaded (MaxStartups), or hosts.deny, fail2ban or a firewall blocks this address.',
  ]
}

function timeoutReason(stage: string, greeting: string, timeoutMs: number): Explanation {
  if (stage === 'BANNER' && greeting)
    return [
      `This is not an SSH server: it sent ${JSON.stringify(printable(greeting.split(/\r?\n/, 1)[0]!, 80))}.`,
      'Check the port.',
    ]
  if (stage === 'BANNER')
    return [
      `It accepted the connection and sent nothing for ${timeoutMs / 1000} s.`,
      'Its sshd hangs, or something else listens on this port.',
    ]
  return [
    `It sent nothing more for ${timeoutMs / 1000} s.`,
    stage === 'AUTHENTICATION'
      ? 'Its sshd may wait for a DNS, LDAP or PAM service that does not respond.'
      : 'The machine may be overloaded.',
  ]
}

const tidy = (message: string) =>
  printable(message)
    .replace(/^Handshake failed: /, '')
    .replace(/[.?]$/, '')
