import type { Duplex } from 'node:stream'
import { fingerprint } from '@muster/core/nodes'
import { Client, type ServerHostKeyAlgorithm } from 'ssh2'
import { type Authentication, authentication } from './authenticate.ts'
import type { StageWalk } from './stages.ts'
import type { Target } from './target.ts'

const HOST_KEY_ALGORITHMS: ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]
/** How much of a greeting is kept to say what answered instead of an SSH server. */
const GREETING_BYTES = 4096
/** A server that has said something else than SSH gets only this long to correct itself. */
const WRONG_GREETING_MS = 1000

/** The pinned key's own algorithms first: a server that has keys of several types then shows the one we know. */
function hostKeyAlgorithms(pinned: string | null): ServerHostKeyAlgorithm[] {
  const type = pinned?.split(' ')[0]
  const isPinned = (name: string) => name === type || (type === 'ssh-rsa' && name.startsWith('rsa-'))
  return [...HOST_KEY_ALGORITHMS.filter(isPinned), ...HOST_KEY_ALGORITHMS.filter((name) => !isPinned(name))]
}

/** SSH wire form of a public key (RFC 4253, 6.6) to `type base64`. */
function keyText(wire: Buffer): string {
  return `${wire.toString('latin1', 4, 4 + wire.readUInt32BE(0))} ${wire.toString('base64')}`
}

/**
 * Stages BANNER, HOST_KEY and AUTHENTICATION over `sock`. Nothing is signed in to before the host key was found to be
 * the pinned one; without a pinned key the server only proves that it holds the one it offers, and that is a failure
 * which carries it.
 * @throws SshFailure; `sock` is then destroyed
 */
export function shakeHands(
  sock: Duplex,
  target: Target,
  walk: StageWalk,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Client> {
  const client = new Client()
  return new Promise<Client>((resolve, reject) => {
    let auth: Authentication
    let heard = ''
    let offered: string | null = null
    let timer: NodeJS.Timeout
    let isOver = false

    const finish = (error: unknown) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      sock.off('data', listen)
      if (!error) return resolve(client)
      reject(error)
      sock.destroy()
    }
    const fail = (...reason: Parameters<StageWalk['fail']>) => {
      if (!isOver) finish(walk.fail(...reason))
    }
    const offer = (changed: boolean) => ({ ...target.owner, key: offered!, fingerprint: fingerprint(offered!), changed })
    const abort = () => finish(signal.reason)
    const arm = (ms: number, late: () => void) => {
      clearTimeout(timer)
      timer = setTimeout(late, ms)
    }
    const begin = (stage: 'BANNER' | 'HOST_KEY' | 'AUTHENTICATION') => {
      walk.begin(stage)
      arm(timeoutMs, () => fail(...explainSilence(stage, heard, timeoutMs)))
    }
    const listen = (chunk: Buffer) => {
      heard = (heard + chunk.toString('latin1')).slice(0, GREETING_BYTES)
      const ident = /^SSH-(\d+\.\d+)-[^\r\n]*(?=\r?\n)/m.exec(heard)
      if (ident) {
        sock.off('data', listen)
        if (ident[1] !== '2.0' && ident[1] !== '1.99') return fail(`It speaks SSH ${ident[1]}.`, 'Only SSH 2 is safe to use.')
        walk.pass(printable(ident[0]))
        begin('HOST_KEY')
      } else if (!'SSH-'.startsWith(heard.slice(0, 4))) {
        arm(WRONG_GREETING_MS, () => fail(...explainSilence('BANNER', heard, timeoutMs)))
      }
    }

    if (signal.aborted) return finish(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    client
      .on('error', (error) => fail(...explain(walk, error, heard, auth)))
      .on('close', () => fail(...explainClosed(walk, heard, auth)))
      .on('handshake', () => {
        if (isOver || !offered) return
        if (!target.hostKey)
          return fail(
            `Its host key has not been approved: ${fingerprint(offered)}.`,
            'Compare the fingerprint with the one on the machine, then approve it.',
            offer(false),
          )
        walk.pass(`${offered.split(' ')[0]} ${fingerprint(offered)}`)
        begin('AUTHENTICATION')
      })
      .on('change password', () =>
        fail(`The password of ${target.login.username} has expired.`, 'Sign in by hand and set a new one.'),
      )
      .on('ready', () => {
        walk.pass(auth.success())
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
          // Finite-field Diffie-Hellman stops this whole process for the time of its sums.
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
            'If the machine was installed anew, approve the new key; otherwise somebody may stand in between.',
            offer(true),
          )
          return false
        },
        // No secret leaves before the key was found to be the pinned one.
        authHandler: (allowed) => offered === target.hostKey && auth.next(allowed),
      })
      // After connect(), which pauses the socket: reading starts only when ssh2 listens as well.
      sock.on('data', listen)
    } catch (error) {
      walk.begin('AUTHENTICATION')
      fail(`The private key cannot be used: ${tidy((error as Error).message)}.`, 'Save the credential again with its passphrase.')
    }
  })
}

type Explanation = [message: string, hint: string | null]

function explain(walk: StageWalk, error: Error & { level?: string }, heard: string, auth: Authentication): Explanation {
  if (error.level === 'client-authentication') return auth.refusal()
  if (walk.current === 'BANNER' && heard) return explainSilence('BANNER', heard, 0)
  if (/no matching key exchange/i.test(error.message))
    return ['It offers no way of key exchange that we take.', 'We take curve25519 and ECDH, which OpenSSH has since 5.7.']
  if (/no matching/i.test(error.message)) return [`${tidy(error.message)}.`, 'Its SSH server is too old or restricted too far.']
  if (error.level === 'client-socket' || error.message === 'Connection lost before handshake')
    return explainClosed(walk, heard, auth)
  return [`${tidy(error.message)}.`, null]
}

function explainClosed(walk: StageWalk, heard: string, auth: Authentication | undefined): Explanation {
  if (walk.current === 'AUTHENTICATION' && auth) {
    const [message, hint] = auth.refusal()
    return [`The server ended the connection. ${message}`, hint]
  }
  if (walk.current === 'BANNER' && heard) return explainSilence('BANNER', heard, 0)
  return [
    'It took the connection and closed it without a word.',
    'Its sshd may be overloaded (MaxStartups), or hosts.deny, fail2ban or a firewall refuses us.',
  ]
}

function explainSilence(stage: string, heard: string, timeoutMs: number): Explanation {
  if (stage === 'BANNER' && heard)
    return [
      `This is no SSH server: it said ${JSON.stringify(printable(heard.split(/\r?\n/, 1)[0]!).slice(0, 80))}.`,
      'Check the port.',
    ]
  if (stage === 'BANNER')
    return [
      `It took the connection and said nothing for ${timeoutMs / 1000} s.`,
      'Its sshd hangs, or something else listens on this port.',
    ]
  return [
    `It said nothing more for ${timeoutMs / 1000} s.`,
    stage === 'AUTHENTICATION'
      ? 'Its sshd may wait for a DNS, LDAP or PAM that does not answer.'
      : 'The machine may be overloaded.',
  ]
}

const printable = (text: string) => text.replace(/[^\x20-\x7e]/g, '?')
const tidy = (message: string) =>
  printable(message)
    .replace(/^Handshake failed: /, '')
    .replace(/[.?]$/, '')
