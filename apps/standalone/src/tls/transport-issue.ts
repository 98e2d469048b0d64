import net from 'node:net'
import type { CertificateFiles } from './certificate.ts'

type Transport = {
  /** Both files, one of them by mistake, or none. */
  files: Partial<CertificateFiles>
  /** Address of the machine at which other programs reach the console, and the setting that has it. */
  address: { setting: 'BIND_ADDRESS' | 'HOST'; value: string }
  trustProxy: boolean
  publicUrl?: string
}

const LOOPBACK = new net.BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Why the console must not serve with these settings; null when it may. */
export function transportIssue({ files, address: { setting, value }, trustProxy, publicUrl }: Transport): string | null {
  if (!files.certFile !== !files.keyFile) return 'TLS_CERT_FILE and TLS_KEY_FILE: set both, or neither of them.'
  if (files.certFile)
    return publicUrl?.startsWith('http:') ? 'MUSTER_PUBLIC_URL must begin with https:// because the console uses TLS.' : null
  const address = value.replace(/^\[|\]$/g, '')
  if (
    trustProxy ||
    address === 'localhost' ||
    (net.isIP(address) > 0 && LOOPBACK.check(address, net.isIPv6(address) ? 'ipv6' : 'ipv4'))
  )
    return null
  return `${setting} is ${value}, and passwords would cross the network unencrypted. Set TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY=1 behind a proxy with TLS.`
}
