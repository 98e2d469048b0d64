import { X509Certificate } from 'node:crypto'
import { z } from 'zod'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Certificates in PEM; other text between them is removed. */
export const CaCertificate = z
  .string()
  .max(65_536)
  .transform((text, ctx) => {
    const found = text.match(CERTIFICATE) ?? []
    if (found.length > 0 && found.every(isCertificate)) return `${found.join('\n')}\n`
    ctx.addIssue({ code: 'custom', message: 'must be certificates in PEM: -----BEGIN CERTIFICATE----- …' })
    return z.NEVER
  })

function isCertificate(pem: string): boolean {
  try {
    return Boolean(new X509Certificate(pem))
  } catch {
    return false
  }
}
