import { z } from 'zod'
import { Host, Port } from '../../kernel/address.ts'
import { Id } from '../../kernel/input.ts'
import { CaCertificate } from '../../kernel/outbound/index.ts'
import { Mac } from '../network/fields.ts'
import { BMC_PROTOCOLS, type BmcProtocol } from '../tables.ts'

export const BMC_PORTS: Record<BmcProtocol, number> = { REDFISH: 443, IPMI: 623 }

/** SHA-256 of a certificate: 64 hex digits, with or without colons, and an optional `sha256:` or `SHA256 Fingerprint=` before them. */
export const CertificateFingerprint = z.string().transform((text, issue) => {
  const digits = text
    .trim()
    .replace(/^sha-?256(?: fingerprint)?[:=]/i, '')
    .replaceAll(':', '')
    .toLowerCase()
  if (/^[0-9a-f]{64}$/.test(digits)) return digits
  issue.addIssue('must be the SHA-256 fingerprint of the certificate: 64 hexadecimal digits')
  return z.NEVER
})

/** Path of a system in the tree of a Redfish service. */
const SystemPath = z
  .string()
  .trim()
  .max(200, 'must have at most 200 characters')
  .regex(
    /^\/redfish\/v1\/Systems\/(?!\.{1,2}$)[A-Za-z0-9._:~%-]+$/,
    'must be the path of a system, such as /redfish/v1/Systems/1',
  )

/** Fields of the BMC of a node that users set. */
export const BMC_FIELDS = {
  address: Host,
  port: Port.nullish(),
  mac: Mac.nullish(),
  protocol: z.enum(BMC_PROTOCOLS, 'must be REDFISH or IPMI'),
  credentialId: Id,
  fingerprint: CertificateFingerprint.nullish(),
  caCertificate: CaCertificate.nullish(),
  systemPath: SystemPath.nullish(),
}

/** Changes of the BMC of a node; the first ones need an address and a credential. */
export const SetNodeBmcInput = z.object({ nodeId: Id, ...z.object(BMC_FIELDS).partial().shape })

/** The BMC of a new node. */
export const NewBmc = z
  .object({ ...BMC_FIELDS, protocol: BMC_FIELDS.protocol.nullish().transform((protocol) => protocol ?? 'REDFISH') })
  .superRefine((bmc, ctx) => {
    for (const { path, message } of bmcIssues(bmc)) ctx.addIssue({ code: 'custom', path: [path], message })
  })

type Checked = {
  protocol: BmcProtocol
  fingerprint?: string | null | undefined
  caCertificate?: string | null | undefined
  systemPath?: string | null | undefined
}

/** Fields that exclude each other or the protocol. */
export function bmcIssues(bmc: Checked): { path: string; message: string }[] {
  const tls = (['fingerprint', 'caCertificate', 'systemPath'] as const).filter((field) => bmc[field])
  if (bmc.protocol === 'IPMI') return tls.map((path) => ({ path, message: 'applies to REDFISH only' }))
  return bmc.fingerprint && bmc.caCertificate
    ? [{ path: 'caCertificate', message: 'cannot be combined with a fingerprint; set one of them' }]
    : []
}
