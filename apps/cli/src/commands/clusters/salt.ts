import type { Command } from '../../command.ts'
import { optionalCredentialId } from '../../lookup.ts'
import { emptyToNull, omitUndefined } from '../../options.ts'
import { readText } from '../../read-text.ts'

export type SaltOptions = { saltCredential?: string; saltEauth?: string; saltCaFile?: string }

/** Options for Salt of a managed cluster. */
export const withSalt = (command: Command): Command =>
  command
    .option('--salt-credential <name>', "SALT credential: check nodes through this salt-api, too; '' ends it")
    .option('--salt-eauth <name>', 'external authentication of the Salt master (default: pam)')
    .option('--salt-ca-file <path>', "PEM file with the only accepted authorities of salt-api; '' removes them")

/** Input fields of the API; an empty option clears the field. */
export const saltFields = async ({ saltCredential, saltEauth, saltCaFile }: SaltOptions) =>
  omitUndefined({
    saltCredentialId: await optionalCredentialId(saltCredential),
    saltEauth: emptyToNull(saltEauth),
    saltCaCertificate: saltCaFile ? readText(saltCaFile) : emptyToNull(saltCaFile),
  })
