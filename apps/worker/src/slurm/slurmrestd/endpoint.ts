import { isIPv6 } from 'node:net'
import type { ApiLogin } from '@muster/core/credentials'
import { type LocalTarget, type OutboundResponse, RequestError, sendOver, sendRequest, TargetError } from '@muster/core/outbound'
import type { Session } from '../../ssh/exec.ts'

/** Why slurmrestd has no usable answer, and the next step. Contains no token. */
export class SlurmrestdFailure extends Error {
  readonly hint: string | null
  constructor(message: string, hint: string | null = null) {
    super(message)
    this.hint = hint
  }
}

export type SlurmrestdLimits = { timeoutMs: number; maxBytes: number; signal: AbortSignal }
/** Where slurmrestd listens. */
export type SlurmrestdEndpoint = {
  /** As in messages: `unix:/run/slurmrestd.socket`, `https://ctl.example.org:6820`. */
  name: string
  /** @throws SlurmrestdFailure; the reason of the signal */
  get(session: Session, path: string, limits: SlurmrestdLimits): Promise<OutboundResponse>
  /** The next step when slurmrestd, or a controller behind it, rejects the login. */
  loginHint(): string
}

/** After a request with `Connection: close`, slurmrestd 22.05 appends a header to the body. */
const HEADERS = { accept: 'application/json', connection: 'keep-alive' }

/** slurmrestd at a Unix socket on the host of the session. It runs with rest_auth/local, which needs no token. */
export const socketEndpoint = (path: string): SlurmrestdEndpoint => ({
  name: `unix:${path}`,
  async get(session, resource, { timeoutMs, signal, ...limits }) {
    const startedAt = performance.now()
    const connecting = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const connection = await session.connectSocket(path, connecting).catch((error: unknown) => {
      signal.throwIfAborted()
      if (connecting.aborted) throw new SlurmrestdFailure('the host does not connect to the socket in time')
      throw new SlurmrestdFailure(
        `the host does not connect to the socket: ${error instanceof Error ? error.message : error}`,
        'Check that slurmrestd runs, that the account may use its socket, and that AllowStreamLocalForwarding of sshd is not off.',
      )
    })
    const remaining = Math.max(1, Math.round(timeoutMs - (performance.now() - startedAt)))
    return await sendOver(connection, { path: resource, headers: HEADERS }, { ...limits, signal, timeoutMs: remaining }).catch(
      failure(timeoutMs),
    )
  },
  loginHint: () =>
    `The log of slurmrestd on the controller has the reason. It must run as a user of Slurm, and the account of the controller's node must be this user or root.`,
})

/** slurmrestd at the host and port of a credential, with a JWT. */
export function urlEndpoint(
  { credential, host, port, username, password: token }: ApiLogin,
  caCertificate: string | null,
  localTargets: readonly LocalTarget[],
): SlurmrestdEndpoint {
  const name = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  const isSendable = [username, token].every((text) => /^[\x21-\x7e]+$/.test(text))
  const headers = { ...HEADERS, 'x-slurm-user-name': username, 'x-slurm-user-token': token }
  return {
    name,
    async get(_session, path, limits) {
      if (!isSendable)
        throw new SlurmrestdFailure(
          `the user name or the token of the credential ${credential} has characters that HTTP does not permit`,
          'Save the token again, as one line without spaces.',
        )
      return sendRequest(
        { url: new URL(path, name), method: 'GET', headers, ca: caCertificate ?? undefined },
        { localTargets, ...limits },
      ).catch(failure(limits.timeoutMs))
    },
    loginHint() {
      const end = expiryOf(token)
      const state =
        end && end.getTime() <= Date.now()
          ? `The token of the credential ${credential} expired at ${end.toISOString()}.`
          : `Check the user name and the token of the credential ${credential}.`
      return `${state} \`scontrol token username=${username} lifespan=SECONDS\` prints a new token: save it as the password of the credential.`
    },
  }
}

const failure =
  (timeoutMs: number) =>
  (error: unknown): never => {
    if (error instanceof TargetError) throw new SlurmrestdFailure(`is rejected. ${error.message}`)
    if (!(error instanceof RequestError)) throw error
    if (error.kind === 'timeout')
      throw new SlurmrestdFailure(
        `no answer within ${Math.ceil(timeoutMs / 1000)} s`,
        'slurmrestd hangs or is overloaded. On its host, read the log of slurmrestd: `journalctl -u slurmrestd`.',
      )
    const hint = error.kind === 'certificate' ? null : 'Check that slurmrestd runs and that the worker can reach it.'
    throw new SlurmrestdFailure(error.message, hint)
  }

/** End of a JWT; null when it has none, or is no JWT. */
function expiryOf(token: string): Date | null {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown }
    return typeof exp === 'number' && Math.abs(exp) < 8.64e12 ? new Date(exp * 1000) : null
  } catch {
    return null
  }
}
