import fs from 'node:fs'
import type { Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { CertificateFiles } from './certificate.ts'

const CHECK_MS = 60_000

/** @throws Error that names the file which cannot be read, or says that certificate and key do not belong together */
export function readCertificate({ certFile, keyFile }: CertificateFiles): { cert: string; key: string } {
  const read = (name: string, file: string) => {
    try {
      return fs.readFileSync(file, 'utf8')
    } catch (error) {
      throw new Error(`${name} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
    }
  }
  const certificate = { cert: read('TLS_CERT_FILE', certFile), key: read('TLS_KEY_FILE', keyFile) }
  try {
    createSecureContext(certificate)
  } catch (error) {
    throw new Error(
      `The certificate ${certFile} and the key ${keyFile} cannot be used: ${(error as Error).message}. Both must be PEM files and belong together.`,
    )
  }
  return certificate
}

/** Uses a renewed certificate for new connections, within a minute. Files that do not belong together yet are ignored until they do. */
export function followCertificate(server: Server, files: CertificateFiles, onReload: () => void, checkMs = CHECK_MS): () => void {
  const reload = () => {
    try {
      server.setSecureContext(readCertificate(files))
      onReload()
    } catch {
      // One of the two files is not replaced yet.
    }
  }
  for (const file of [files.certFile, files.keyFile]) fs.watchFile(file, { interval: checkMs }, reload)
  return () => {
    for (const file of [files.certFile, files.keyFile]) fs.unwatchFile(file, reload)
  }
}
