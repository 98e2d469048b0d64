import { lookup } from 'node:dns/promises'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { hostPort } from '@muster/core/address'
import type { Client } from 'ssh2'
import { printable } from './printable.ts'
import type { StageRecorder } from './stage-recorder.ts'
import type { Target } from './target.ts'

type Limits = { timeoutMs: number; signal: AbortSignal }

const TCP_ERRORS: Record<string, (address: string) => [message: string, hint: string]> = {
  ECONNREFUSED: (a) => [`${a} refuses connections.`, 'Check that sshd runs there and that the port is right.'],
  EHOSTUNREACH: (a) => [
    `There is no route to ${a} (host unreachable).`,
    'Check that the machine is on and the address is right.',
  ],
  ENETUNREACH: (a) => [
    `There is no route to ${a} (network unreachable).`,
    'Check the routes of this machine, and whether a bastion is needed.',
  ],
  ETIMEDOUT: (a) => [`${a} did not respond.`, SILENT_HINT],
  ECONNRESET: (a) => [`${a} dropped the connection.`, 'A firewall in between may do that.'],
}
const SILENT_HINT = 'Check that the machine is on and that no firewall drops the connection.'

/** Settles with `work`, or rejects with `late()` after `timeoutMs`, or with the signal's reason when it fires first. */
export async function within<T>(work: Promise<T>, { timeoutMs, signal }: Limits, late: () => Error): Promise<T> {
  signal.throwIfAborted()
  let stop = () => {}
  const clock = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(late()), timeoutMs)
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    stop = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  })
  try {
    return await Promise.race([work, clock])
  } finally {
    stop()
  }
}

/** Stages RESOLVE and TCP from this machine. IPv6 addresses may carry a zone. @throws SshFailure */
export async function dial(target: Target, recorder: StageRecorder, limits: Limits): Promise<Socket> {
  const { host, port } = target
  recorder.begin('RESOLVE')
  const hint = 'Check the spelling, and that the name is known to the DNS or /etc/hosts of this machine.'
  const found = await within(lookup(host, { all: true }), limits, () =>
    recorder.fail(`The name ${host} was not resolved within ${limits.timeoutMs / 1000} s.`, 'The DNS server does not respond.'),
  ).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTFOUND') throw recorder.fail(`The name ${host} does not exist.`, hint)
    if (error.syscall) throw recorder.fail(`The name ${host} could not be resolved (${error.code}).`, hint)
    throw error
  })
  recorder.pass(found.map((a) => a.address).join(', '))

  recorder.begin('TCP')
  const address = hostPort(target.host, target.port)
  // Connect to the addresses just resolved: a second lookup could return others.
  const socket = connect({ host, port, lookup: (_name, _options, done) => done(null, found), noDelay: true })
  try {
    await within(
      new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve).once('error', reject)
      }),
      limits,
      () => recorder.fail(`${address} did not respond within ${limits.timeoutMs / 1000} s.`, SILENT_HINT),
    )
  } catch (error) {
    socket.on('error', () => {}).destroy()
    // With several addresses each has its own error; they rarely differ in kind.
    const first = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException) : (error as NodeJS.ErrnoException)
    if (!first.syscall) throw error
    const [message, hint] = TCP_ERRORS[first.code ?? '']?.(address) ?? [`${address} cannot be reached (${first.code}).`, null]
    throw recorder.fail(message, hint)
  }
  socket.removeAllListeners('error')
  recorder.pass(`${socket.remoteAddress} port ${socket.remotePort}`)
  return socket
}

/** The same two stages through a bastion, which resolves the name itself. @throws SshFailure */
export async function dialThrough(
  bastion: Client,
  via: Target,
  target: Target,
  recorder: StageRecorder,
  limits: Limits,
): Promise<Duplex> {
  recorder.skip('RESOLVE', `resolved by bastion ${via.hop}`)
  recorder.begin('TCP')
  const address = hostPort(target.host, target.port)
  const opening = new Promise<Duplex>((resolve, reject) => {
    bastion.forwardOut('127.0.0.1', 0, target.host, target.port, (error, channel) => (error ? reject(error) : resolve(channel)))
  })
  try {
    const channel = await within(opening, limits, () =>
      recorder.fail(`Bastion ${via.hop} got no response from ${address} within ${limits.timeoutMs / 1000} s.`, SILENT_HINT),
    )
    recorder.pass(`through bastion ${via.hop}`)
    return channel
  } catch (error) {
    // Close a channel that opens after the timeout.
    opening.then(
      (late) => late.destroy(),
      () => {},
    )
    const reason = (error as { reason?: number }).reason
    if (reason === undefined) throw error
    const detail = printable((error as Error).message.replace(/^.*failure: /, ''))
    if (reason === 1)
      throw recorder.fail(
        `Bastion ${via.hop} does not forward connections (${detail}).`,
        'Set AllowTcpForwarding in its sshd_config.',
      )
    throw recorder.fail(
      `Bastion ${via.hop} cannot reach ${address}: ${detail}.`,
      'Check the address as the bastion sees it, and that sshd runs there.',
    )
  }
}
