import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId } from '../../ids.ts'
import { integer, oneOf } from '../../options.ts'
import { ask, readStdin } from '../../prompt.ts'

type Options = {
  kind: 'SSH_KEY' | 'SSH_PASSWORD' | 'BASTION' | 'BECOME'
  username?: string
  keyFile?: string
  passphrase?: true
  password?: true
  secretStdin?: true
  host?: string
  port?: number
  via?: string
  becomeMethod?: 'SUDO' | 'SU'
}

export const credentialAdd = () =>
  new Command('add')
    .description('keep a key or password, sealed; secrets are asked for or read, never given as arguments')
    .argument('<name>')
    .requiredOption(
      '-k, --kind <kind>',
      'what it is: SSH_KEY, SSH_PASSWORD, BASTION or BECOME',
      oneOf('SSH_KEY', 'SSH_PASSWORD', 'BASTION', 'BECOME'),
    )
    .option('-u, --username <user>', 'login name')
    .option('--key-file <path>', 'private key')
    .option('--passphrase', 'ask for the passphrase of the key')
    .option('--password', 'ask for a password')
    .option('--secret-stdin', 'read the passphrase (with --key-file) or the password from standard input instead of asking')
    .option('--host <host>', 'BASTION: its address')
    .option('--port <port>', 'BASTION: its SSH port', integer)
    .option('--via <name>', 'BASTION: the bastion in front of it')
    .option('--become-method <method>', 'BECOME: SUDO or SU', oneOf('SUDO', 'SU'))
    .action(async (name: string, options: Options) => {
      const { createCredential } = await request(
        graphql(`mutation CredentialAdd($input: CreateCredentialInput!) {
          createCredential(input: $input) { __typename ... on Credential { name kind } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        {
          input: {
            name,
            kind: options.kind,
            ...(options.username ? { username: options.username } : {}),
            ...(await secrets(options)),
            ...(options.host ? { host: options.host } : {}),
            ...(options.port ? { port: options.port } : {}),
            ...(options.via ? { viaId: await credentialId(options.via) } : {}),
            ...(options.becomeMethod ? { becomeMethod: options.becomeMethod } : {}),
          },
        },
      )
      const made = orThrow(createCredential)
      process.stderr.write(`Kept ${made.name} (${made.kind}).\n`)
    })

async function secrets(options: Options): Promise<{ privateKey?: string; passphrase?: string; password?: string }> {
  if (options.kind === 'SSH_KEY' && !options.keyFile)
    throw new CliError('A credential of the kind SSH_KEY needs --key-file PATH, the private key.', EXIT.usage)
  const privateKey = options.keyFile ? readKey(options.keyFile) : undefined
  const given = options.secretStdin ? await readStdin() : undefined
  const passphrase =
    privateKey && (given ?? (options.passphrase ? await ask('Passphrase', '--secret-stdin', { hidden: true }) : undefined))
  const wantsPassword = options.password || (!privateKey && options.kind !== 'SSH_KEY')
  const password =
    privateKey && !options.password
      ? undefined
      : (given ?? (wantsPassword ? await ask('Password', '--secret-stdin', { hidden: true }) : undefined))
  return { ...(privateKey ? { privateKey } : {}), ...(passphrase ? { passphrase } : {}), ...(password ? { password } : {}) }
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage)
  }
}
