import type { Readable } from 'node:stream'
import ssh2, { type ClientChannel, type ConnectConfig } from 'ssh2'
import { fingerprint } from './keys.ts'
import type { ExecResult } from './types.ts'

export interface Target {
  host: string
  port: number
}

/** An open SSH connection. */
export interface Session extends Disposable {
  /** Fingerprint of the host's key. */
  fingerprint: string
  run(command: string, input?: string, pty?: boolean): Promise<ExecResult>
  channel(command: string, pty?: boolean): Promise<ClientChannel>
  /** Opens a TCP stream to another host through this one. */
  forward(to: Target): Promise<Readable>
  closed: Promise<void>
}

/** Connects over SSH or throws ssh2's error. Accepts any host key: tests compare the fingerprint. */
export function connectTo(target: Target, login: Omit<ConnectConfig, 'host' | 'port'>): Promise<Session> {
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    let hostFingerprint = ''
    const closed = new Promise<void>((done) => client.on('close', () => done()))
    const channel = (command: string, pty = false) =>
      new Promise<ClientChannel>((open, fail) =>
        client.exec(command, { pty }, (error, stream) => (error ? fail(error) : open(stream))),
      )
    client.on('error', reject)
    client.on('ready', () =>
      resolve({
        fingerprint: hostFingerprint,
        closed,
        channel,
        async run(command, input = '', pty = false) {
          const stream = await channel(command, pty)
          let [stdout, stderr] = ['', '']
          stream.on('data', (text: Buffer) => (stdout += text))
          stream.stderr.on('data', (text: Buffer) => (stderr += text))
          return new Promise((done) => {
            stream.on('close', (code: number | null) => done({ code: code ?? 255, stdout, stderr }))
            stream.end(input)
          })
        },
        forward: (to) =>
          new Promise((open, fail) =>
            client.forwardOut('127.0.0.1', 0, to.host, to.port, (error, stream) => (error ? fail(error) : open(stream))),
          ),
        [Symbol.dispose]: () => client.end(),
      }),
    )
    client.connect({
      ...target,
      readyTimeout: 10_000,
      hostVerifier: (key: Buffer) => {
        hostFingerprint = fingerprint(`ssh-ed25519 ${key.toString('base64')}`)
        return true
      },
      ...login,
    })
  })
}
