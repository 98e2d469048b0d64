import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { CliError, EXIT } from '../../errors.ts'
import { credentialIdIfGiven } from '../../ids.ts'
import { given, integer, oneOf, orEmpty, orNull } from '../../options.ts'
import { ask, readStdin } from '../../prompt.ts'
import { storeId } from '../secret-store/fields.ts'

export type Kind = 'SSH_KEY' | 'SSH_PASSWORD' | 'BASTION' | 'BECOME' | 'GIT'
export type FieldOptions = {
  description?: string
  username?: string
  keyFile?: string
  passphrase?: true
  password?: true
  secretStdin?: true
  host?: string
  port?: number | ''
  hostKey?: string
  via?: string
  becomeMethod?: 'SUDO' | 'SU'
  store?: string
  keyAt?: Place
  passphraseAt?: Place
  passwordAt?: Place
}
/** Where in a secret store a value is. */
type Place = { path: string; key: string }

/** The options that say what stands in a credential. */
export const withFields = (command: Command): Command =>
  command
    .option('--description <text>', 'what it is for')
    .option('-u, --username <user>', 'login name')
    .option('--key-file <path>', 'private key')
    .option('--passphrase', 'ask for the passphrase of the key')
    .option('--password', 'ask for a password')
    .option('--secret-stdin', 'read the passphrase (with --key-file) or the password from standard input instead of asking')
    .option('--host <host>', 'BASTION and GIT: its address; another one needs the secret again')
    .option('--port <port>', 'BASTION and GIT: its port; another one needs the secret again', orEmpty(integer))
    .option('--host-key <line>', 'GIT with a key: host key of the server, as in known_hosts')
    .option('--via <name>', 'BASTION: the bastion in front of it')
    .option('--become-method <method>', 'BECOME: SUDO or SU', oneOf('SUDO', 'SU'))
    .option('--store <name>', 'secret store in which the following are')
    .option('--key-at <path#key>', 'where there the private key is, for example nodes/gpu#ssh_key', place)
    .option('--passphrase-at <path#key>', 'where there its passphrase is', place)
    .option('--password-at <path#key>', 'where there the password is', place)

/** What the API is told of the options that were given, apart from secrets. */
export async function fields(options: FieldOptions) {
  const { description, username, host, port, hostKey, via, becomeMethod, store } = options
  const secretRefs = [
    ...(options.keyAt ? [{ field: 'PRIVATE_KEY' as const, ...options.keyAt }] : []),
    ...(options.passphraseAt ? [{ field: 'PASSPHRASE' as const, ...options.passphraseAt }] : []),
    ...(options.passwordAt ? [{ field: 'PASSWORD' as const, ...options.passwordAt }] : []),
  ]
  return given({
    description,
    username: orNull(username),
    host: orNull(host),
    port: orNull(port),
    hostKey: orNull(hostKey),
    viaId: await credentialIdIfGiven(via),
    becomeMethod,
    secretStoreId: store ? await storeId(store) : undefined,
    secretRefs: secretRefs.length > 0 ? secretRefs : undefined,
  })
}

/** The secrets of a credential of that kind, read or asked for; never arguments. */
export async function secrets(
  kind: Kind,
  options: FieldOptions,
): Promise<{ privateKey?: string; passphrase?: string; password?: string }> {
  if (options.keyAt || (options.passwordAt && !options.keyFile)) return {}
  if (kind === 'SSH_KEY' && !options.keyFile)
    throw new CliError('A credential of the kind SSH_KEY needs --key-file PATH, the private key; or --key-at.', EXIT.usage)
  const privateKey = options.keyFile ? readKey(options.keyFile) : undefined
  const given = options.secretStdin ? await readStdin() : undefined
  const passphrase =
    privateKey && (given ?? (options.passphrase ? await ask('Passphrase', '--secret-stdin', { hidden: true }) : undefined))
  const wantsPassword = options.password || (!privateKey && kind !== 'SSH_KEY')
  const password =
    privateKey && !options.password
      ? undefined
      : (given ?? (wantsPassword ? await ask('Password', '--secret-stdin', { hidden: true }) : undefined))
  return { ...(privateKey ? { privateKey } : {}), ...(passphrase ? { passphrase } : {}), ...(password ? { password } : {}) }
}

function place(text: string): Place {
  const [, path, key] = /^([^#]+)#(.+)$/.exec(text) ?? []
  if (!path || !key) throw new InvalidArgumentError('It must be PATH#KEY, as nodes/gpu#password.')
  return { path, key }
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage)
  }
}
