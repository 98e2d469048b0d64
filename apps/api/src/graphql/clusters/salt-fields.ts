import type { InputFields } from '../shared/mutation.ts'

/** Input fields about Salt of a managed cluster. */
export const saltFields = (t: InputFields) => ({
  saltCredentialId: t.id({
    description: 'Credential of the kind SALT: readiness of nodes is also checked through this salt-api. Null: without Salt.',
  }),
  saltEauth: t.string({ description: 'External authentication of the master for this login; pam when null.' }),
  saltCaCertificate: t.string({
    description: 'Certificates of the only accepted authorities of salt-api, in PEM; null: those that the workers trust.',
  }),
  saltInstalls: t.boolean({
    description:
      'Whether the packages of Slurm are installed and removed with the state `slurm.node` of the site. Without it, Ansible installs them.',
  }),
})
