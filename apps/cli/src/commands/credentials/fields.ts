import { InvalidArgumentError } from 'commander'
import type { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { optionalCredentialId } from '../../lookup.ts'
import { allowEmpty, commaList, emptyToNull, integer, omitUndefined, oneOf } from '../../options.ts'
import { prompt, readStdin } from '../../prompt.ts'
import { readText } from '../../read-text.ts'
import { storeId } from './secret-stores/fields.ts'

export type Kind = 'SSH_KEY' | 'SSH_PASSWORD' | 'BASTION' | 'BECOME' | 'GIT' | 'SALT' | 'SLURMRESTD' | 'BMC'
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
  allowedHost?: string[]
  via?: string
  becomeMethod?: 'SUDO' | 'SU'
  store?: string
  keyAt?: SecretLocation
  passphraseAt?: SecretLocation
  passwordAt?: SecretLocation
}
/** Location of a value in a secret store. */
type SecretLocation = { path: string; key: string }

/** Options for the fields of a credential. */
export const withFields = (command: Command): Command =>
  command
    .option('--description <text>', 'purpose')
    .option('-u, --username <user>', 'user name')
    .option('--key-file <path>', 'private key file')
    .option('--passphrase', 'ask for the passphrase of the key')
    .option('--password', 'ask for a password or token')
    .option('--secret-stdin', 'read the passphrase (with --key-file) or the password from standard input instead of asking')
    .option('--host <host>', 'BASTION, GIT, SALT, SLURMRESTD: address; a change requires the secret again')
    .option('--port <port>', 'BASTION, GIT, SALT, SLURMRESTD: port; a change requires the secret again', allowEmpty(integer))
    .option('--host-key <line>', 'GIT with a key: host key of the server in known_hosts format')
    .option(
      '--allowed-host <pattern>',
      'SSH_PASSWORD, BECOME, BMC: send the password only to this network or host name, such as 10.0.0.0/8 or *.example.org; repeatable',
      commaList,
    )
    .option('--via <name>', 'BASTION: bastion to connect through')
    .option('--become-method <method>', 'BECOME: SUDO or SU', oneOf('SUDO', 'SU'))
    .option('--store <name>', 'secret store of the following values')
    .option('--key-at <path#key>', 'location of the private key, for example nodes/gpu#ssh_key', secretLocation)
    .option('--passphrase-at <path#key>', 'location of the passphrase', secretLocation)
    .option('--password-at <path#key>', 'location of the password', secretLocation)

/** Input fields of the API for the options, without secrets. */
export async function fields(options: FieldOptions) {
  const { description, username, host, port, hostKey, allowedHost, via, becomeMethod, store } = options
  const secretRefs = [
    ...(options.keyAt ? [{ field: 'PRIVATE_KEY' as const, ...options.keyAt }] : []),
    ...(options.passphraseAt ? [{ field: 'PASSPHRASE' as const, ...options.passphraseAt }] : []),
    ...(options.passwordAt ? [{ field: 'PASSWORD' as const, ...options.passwordAt }] : []),
  ]
  return omitUndefined({
    description,
    username: emptyToNull(username),
    host: emptyToNull(host),
    port: emptyToNull(port),
    hostKey: emptyToNull(hostKey),
    allowedHosts: allowedHost,
    viaId: await optionalCredentialId(via),
    becomeMethod,
    secretStoreId: store ? await storeId(store) : undefined,
    secretRefs: secretRefs.length > 0 ? secretRefs : undefined,
  })
}

/** Secrets for a credential of this kind, from files, standard input or a prompt. */
export async function secrets(
  kind: Kind,
  options: FieldOptions,
): Promise<{ privateKey?: string; passphrase?: string; password?: string }> {
  if (options.keyAt || (options.passwordAt && !options.keyFile)) return {}
  if (kind === 'SSH_KEY' && !options.keyFile) throw new CliError('SSH_KEY requires --key-file PATH or --key-at.', EXIT.usage)
  const privateKey = options.keyFile ? readText(options.keyFile) : undefined
  const stdin = options.secretStdin ? await readStdin() : undefined
  const passphrase =
    privateKey && (stdin ?? (options.passphrase ? await prompt('Passphrase', '--secret-stdin', { hidden: true }) : undefined))
  const wantsPassword = options.password || (!privateKey && kind !== 'SSH_KEY')
  const password =
    privateKey && !options.password
      ? undefined
      : (stdin ?? (wantsPassword ? await prompt('Password', '--secret-stdin', { hidden: true }) : undefined))
  return { ...(privateKey ? { privateKey } : {}), ...(passphrase ? { passphrase } : {}), ...(password ? { password } : {}) }
}

function secretLocation(text: string): SecretLocation {
  const [, path, key] = /^([^#]+)#(.+)$/.exec(text) ?? []
  if (!path || !key) throw new InvalidArgumentError('It must be PATH#KEY, for example nodes/gpu#password.')
  return { path, key }
}
