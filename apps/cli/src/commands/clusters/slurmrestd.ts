import type { Command } from '../../command.ts'
import { optionalCredentialId } from '../../lookup.ts'
import { emptyToNull, omitUndefined } from '../../options.ts'
import { readText } from '../../read-text.ts'

export type SlurmrestdOptions = { slurmrestdSocket?: string; slurmrestdCredential?: string; slurmrestdCaFile?: string }

/** Options for slurmrestd of a cluster. */
export const withSlurmrestd = (command: Command): Command =>
  command
    .option(
      '--slurmrestd-socket <path>',
      "read nodes and jobs from this Unix socket on the controller's host; replaces the credential; '' stops using it",
    )
    .option(
      '--slurmrestd-credential <name>',
      "read nodes and jobs over HTTPS with this SLURMRESTD credential; replaces the socket; '' stops using it",
    )
    .option('--slurmrestd-ca-file <path>', "PEM file with the only accepted authorities of slurmrestd; '' removes them")

/** Input fields of the API; an empty option clears the field. */
export const slurmrestdFields = async ({ slurmrestdSocket, slurmrestdCredential, slurmrestdCaFile }: SlurmrestdOptions) =>
  omitUndefined({
    slurmrestdSocket: emptyToNull(slurmrestdSocket),
    slurmrestdCredentialId: await optionalCredentialId(slurmrestdCredential),
    slurmrestdCaCertificate: slurmrestdCaFile ? readText(slurmrestdCaFile) : emptyToNull(slurmrestdCaFile),
  })
