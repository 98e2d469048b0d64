import { X509Certificate } from 'node:crypto'
import fs from 'node:fs'
import { isIP } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { generate } from 'selfsigned'

export type CertificateFiles = { certFile: string; keyFile: string }

const DAY_MS = 86_400_000
const VALID_DAYS = 825
const RENEW_DAYS = 30

/**
 * Creates the self-signed certificate of a data directory for the host of `publicUrl` and the names and addresses of this machine. An existing one is
 * kept until 30 days before its end, because clients trust exactly this certificate.
 * @param publicUrl address in browsers
 */
export async function ensureSelfSigned(dataDir: string, publicUrl: string): Promise<CertificateFiles> {
  const host = new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1')
  const folder = path.join(dataDir, 'tls')
  const files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') }
  if (isUsable(files, host)) return files
  const names = [...new Set([host, ...localNames()])]
  const now = Date.now()
  const { cert, private: key } = await generate([{ name: 'commonName', value: `Muster on ${os.hostname()}`.slice(0, 64) }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - DAY_MS),
    notAfterDate: new Date(now + VALID_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: names.map((name) => (isIP(name) ? { type: 7, ip: name } : { type: 2, value: name })) },
    ],
  })
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  // The key first: a start that was killed in between finds no certificate and creates both again.
  fs.rmSync(files.certFile, { force: true })
  writePrivate(files.keyFile, key)
  writePrivate(files.certFile, cert)
  return files
}

/** SHA-256 fingerprint of a certificate, as browsers show it. */
export const fingerprintOf = (certFile: string): string => new X509Certificate(fs.readFileSync(certFile)).fingerprint256

function isUsable({ certFile, keyFile }: CertificateFiles, host: string): boolean {
  if (!fs.existsSync(certFile) || !fs.existsSync(keyFile)) return false
  const certificate = new X509Certificate(fs.readFileSync(certFile))
  const covered = isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)
  return covered !== undefined && certificate.validToDate.getTime() > Date.now() + RENEW_DAYS * DAY_MS
}

function localNames(): string[] {
  const addresses = Object.values(os.networkInterfaces()).flatMap((each) => each ?? [])
  // Browsers cannot open link-local addresses, which contain an interface.
  return ['localhost', os.hostname(), ...addresses.map(({ address }) => address).filter((address) => !/^fe80:/i.test(address))]
}

function writePrivate(file: string, text: string): void {
  fs.rmSync(file, { force: true })
  fs.writeFileSync(file, text, { mode: 0o600 })
}
