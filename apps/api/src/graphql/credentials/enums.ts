import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const CredentialKind = builder.enumType('CredentialKind', {
  description: 'Kind of a credential.',
  values: same({
    SSH_KEY: 'SSH login with a private key.',
    SSH_PASSWORD: 'SSH login with a password.',
    BASTION: 'A bastion (jump host) with its login.',
    BECOME: 'Password for privilege escalation, usually to root.',
    SALT: 'Login at a salt-api, through which managed Slurm clusters use Salt.',
    BMC: 'User name and password at BMCs of nodes (Redfish, IPMI).',
    SLURMRESTD: 'User name and token (JWT) at slurmrestd, from which Slurm clusters can be read.',
    GIT: 'Login at a git server with private playbook repositories.',
  }),
})

export const SecretField = builder.enumType('SecretField', {
  description: 'Secret field of a credential.',
  values: {
    PRIVATE_KEY: { value: 'privateKey', description: 'Private key.' },
    PASSPHRASE: { value: 'passphrase', description: 'Passphrase of the private key.' },
    PASSWORD: { value: 'password', description: 'Password.' },
  } as const,
})

export const BecomeMethod = builder.enumType('BecomeMethod', {
  description: 'Command for privilege escalation.',
  values: upper({ sudo: 'sudo.', su: 'su.' }),
})
