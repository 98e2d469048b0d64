import { rowIdIfGiven } from '../shared/ids.ts'
import type { InputFields } from '../shared/mutation.ts'

/** Input fields about slurmrestd of a cluster. */
export const slurmrestdFields = (t: InputFields) => ({
  slurmrestdSocket: t.string({
    description:
      "Unix socket of slurmrestd on the controller's host, for example `/run/slurmrestd/slurmrestd.socket`: nodes and jobs are read from it. It replaces `slurmrestdCredentialId`.",
  }),
  slurmrestdCredentialId: t.id({
    description: 'Credential of the kind SLURMRESTD: nodes and jobs are read over HTTPS. It replaces `slurmrestdSocket`.',
  }),
  slurmrestdCaCertificate: t.string({
    description: 'Certificates of the only accepted authorities of slurmrestd, in PEM; null: those that the workers trust.',
  }),
})

/** The input with the credential's row ID in place of its global ID. */
export const withSlurmrestd = <T extends { slurmrestdCredentialId?: string | null | undefined }>({
  slurmrestdCredentialId,
  ...input
}: T) => ({ ...input, slurmrestdCredentialId: rowIdIfGiven('Credential', slurmrestdCredentialId) })
