import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const CredentialKind = builder.enumType('CredentialKind', {
  description: 'What a credential opens.',
  values: same({
    SSH_KEY: 'Login on nodes with a private key.',
    SSH_PASSWORD: 'Login on nodes with a password.',
    BASTION: 'A host in front of nodes, with the login on it.',
    BECOME: 'The password with which a logged-in user becomes another, usually root.',
    GIT: 'Private repositories of a git server, from which templates take their playbooks.',
  }),
})

export const SecretField = builder.enumType('SecretField', {
  description: 'A field of a credential that holds a secret.',
  values: {
    PRIVATE_KEY: { value: 'privateKey', description: 'Private key.' },
    PASSPHRASE: { value: 'passphrase', description: 'Opens the private key.' },
    PASSWORD: { value: 'password', description: 'Password.' },
  } as const,
})

export const BecomeMethod = builder.enumType('BecomeMethod', {
  description: 'The command that changes to another user.',
  values: upper({ sudo: 'sudo.', su: 'su.' }),
})
