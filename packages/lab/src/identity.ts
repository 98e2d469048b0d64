import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { newKeyLogin, newKeyPair, newPassword } from './keys.ts'
import type { LabCredentials } from './types.ts'

/** What clients of a lab remember about it. A lab with an `identityFile` has the same again when it starts the next time. */
export interface LabIdentity {
  /** From which machine IDs are derived. */
  seed: string
  credentials: LabCredentials
  /** By host name. */
  hostKeys: Record<string, { private: string; public: string }>
  /** x in 10.77.x.0/24, if it is free; null in loopback mode. */
  subnet: number | null
  /** Ports in loopback mode, if they are free, by host name. */
  ports: Record<string, number>
}

/** The identity that `file` keeps, or a new one. */
export function readIdentity(file: string | undefined, seed: string): LabIdentity {
  if (file !== undefined && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as LabIdentity
  return { seed, credentials: newCredentials(), hostKeys: {}, subnet: null, ports: {} }
}

/** Contains private keys, so only the owner can read it. */
export function saveIdentity(file: string, identity: LabIdentity): void {
  writeFileSync(`${file}.new`, JSON.stringify(identity), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** The host key of `name`, which is made when it is first needed. */
export function hostKeyOf({ hostKeys }: LabIdentity, name: string): { private: string; public: string } {
  hostKeys[name] ??= newKeyPair(name)
  return hostKeys[name]
}

function newCredentials(): LabCredentials {
  const sshKey = newKeyLogin('ops')
  const password = (username: string) => ({ username, password: newPassword() })
  return {
    sshKey,
    sshPassword: password('ops'),
    rootKey: { ...sshKey, username: 'root' },
    sudoPassword: password('admin'),
    plainPassword: password('plain'),
    rootPassword: password('root'),
    bastionKey: newKeyLogin('jump'),
    bastionPassword: password('jump'),
  }
}
