import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { downloadDeb, type Lab, newSigningKey, serveFolder, writeAptIndex } from '@muster/lab'

const CACHE = fileURLToPath(new URL('../../../.tool/cache/apt', import.meta.url))

/**
 * Serves a signed apt repository with the distribution's node_exporter to the nodes of `lab`.
 * @throws Error when packages cannot be installed on the lab's nodes or apt cannot download the package
 */
export async function exporterRepository(lab: Lab): Promise<{ url: string; close(): Promise<void> }> {
  const deb = process.getuid?.() === 0 ? downloadDeb('prometheus-node-exporter', CACHE) : null
  if (!deb) throw new Error('Deploying packages on lab nodes requires root, Debian and a reachable apt mirror.')
  const folder = mkdtempSync(join(tmpdir(), 'muster-repository-'))
  const key = await newSigningKey()
  copyFileSync(deb, join(folder, basename(deb)))
  await writeAptIndex(folder, { debs: [join(folder, basename(deb))] }, key)
  writeFileSync(join(folder, 'repository.asc'), key.publicKey.armored)
  const server = await serveFolder(folder, lab.hostAddress)
  return {
    url: server.url,
    async close() {
      await Promise.all([server.close(), key.remove()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
