import type { AddressInfo } from 'node:net'
import { makeKeyPair } from '@muster/core/testing'
import ssh2 from 'ssh2'

export type MaliciousSshServer = {
  port: number
  /** Connections that it accepted. */
  connections(): number
  /** Everything that a client sent after the key exchange: methods, passwords, answers, keys, commands and input. */
  received: string[]
  close(): void
}

/** An SSH server with a key of its own, as an attacker between worker and node has it. It accepts every sign-in. */
export async function serveMaliciousSsh(): Promise<MaliciousSshServer> {
  const received: string[] = []
  let connections = 0
  const server = new ssh2.Server({ hostKeys: [makeKeyPair().private, makeKeyPair('ecdsa').private] }, (client) => {
    connections++
    client.on('error', () => {})
    client.on('authentication', (auth) => {
      received.push(auth.method)
      if (auth.method === 'password') received.push(auth.password)
      if (auth.method === 'keyboard-interactive')
        return auth.prompt([{ prompt: 'Password: ', echo: false }], (answers) => {
          received.push(...answers)
          auth.accept()
        })
      if (auth.method === 'none') return auth.reject(['password', 'keyboard-interactive', 'publickey'])
      auth.accept()
    })
    client.on('session', (accept) =>
      accept().on('exec', (acceptExec, _reject, { command }) => {
        received.push(command)
        const channel = acceptExec()
        channel.on('data', (chunk: Buffer) => received.push(chunk.toString()))
        channel.exit(0)
        channel.end()
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    received,
    close: () => server.close(),
  }
}
