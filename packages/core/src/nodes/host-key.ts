import { createHash } from 'node:crypto'
import { z } from 'zod'

/**
 * A public host key, `type base64`, as in known_hosts. A trailing comment is dropped. The type must match the type inside the key
 * (RFC 4253, section 6.6).
 */
export const HostKey = z.string().transform((text, issue) => {
  const [type, base64, ...rest] = text.trim().split(/[ \t]+/)
  const blob = /^[A-Za-z0-9+/]+={0,2}$/.test(base64 ?? '') ? Buffer.from(base64!, 'base64') : null
  const length = blob && blob.length > 4 ? blob.readUInt32BE(0) : 0
  const named = blob?.subarray(4, 4 + length).toString('latin1')
  if (!type || !blob || named !== type || rest.join('').includes('\n')) {
    issue.addIssue('must be a host key such as `ssh-ed25519 AAAA…`, one line as in known_hosts without the address')
    return z.NEVER
  }
  return `${type} ${blob.toString('base64')}`
})

/** `SHA256:…` of a key given as `type base64`, as `ssh-keygen -l` prints it. */
export function fingerprint(key: string): string {
  const blob = Buffer.from(key.split(' ')[1] ?? '', 'base64')
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
}
