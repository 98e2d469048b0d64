import type { Command } from '../../command.ts'
import { optionalCredentialId } from '../../lookup.ts'
import { emptyToNull, omitUndefined, oneOf } from '../../options.ts'
import { readText } from '../../read-text.ts'

export type SaltOptions = { saltCredential?: string; saltEauth?: string; saltCaFile?: string; saltInstalls?: 'YES' | 'NO' }

/** Options for Salt of a managed cluster. */
export const withSalt = (command: Command): Command =>
  command
    .option('--salt-credential <name>', "SALT credential: check nodes through this salt-api, too; '' ends it")
    .option('--salt-eauth <name>', 'external authentication of the Salt master (default: pam)')
    .option('--salt-ca-file <path>', "PEM file with the only accepted authorities of salt-api; '' removes them")
    .option('--salt-installs <yes|no>', 'yes: the state slurm.node installs the packages (default: no)', oneOf('YES', 'NO'))

/** Input fields of the API; an empty option clears the field. */
export const saltFields = async ({ saltCredential, saltEauth, saltCaFile, saltInstalls }: SaltOptions) =>
  omitUndefined({
    saltCredentialId: await optionalCredentialId(saltCredential),
    saltEauth: emptyToNull(saltEauth),
    saltCaCertificate: saltCaFile ? readText(saltCaFile) : emptyToNull(saltCaFile),
    saltInstalls: saltInstalls && saltInstalls === 'YES',
  })
