import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, copyFile, mkdir, open, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ArtifactStore } from './store.ts'

const KEY = /^[0-9a-f-]+(\/[0-9a-f-]+)*$/

/** Files in a directory of this machine or on shared storage. */
export function localStore(root: string): ArtifactStore {
  const pathOf = (key: string) => {
    if (!KEY.test(key)) throw new Error(`${key} is not the key of an artifact.`)
    return join(root, key)
  }
  return {
    name: 'local',
    async put(key, file) {
      const path = pathOf(key)
      const fresh = `${path}.${randomBytes(6).toString('hex')}`
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        // Copy-on-write where the file system supports it.
        await copyFile(file, fresh, constants.COPYFILE_FICLONE)
        const copy = await open(fresh, 'r+')
        await copy.chmod(0o600)
        await copy.sync()
        await copy.close()
        await rename(fresh, path)
      } catch (error) {
        await rm(fresh, { force: true }).catch(() => {})
        throw new Error(`The directory ${root} cannot be written (${(error as NodeJS.ErrnoException).code}).`)
      }
    },
    async open(key) {
      return (await open(pathOf(key))).createReadStream()
    },
    async remove(keys) {
      for (const path of keys.map(pathOf)) {
        await rm(path, { force: true })
        // Remove the run's directory if this was its last file.
        await rmdir(dirname(path)).catch(() => {})
      }
    },
    link: async () => null,
    async notReadyReason() {
      try {
        await mkdir(root, { recursive: true, mode: 0o700 })
        await access(root, constants.R_OK | constants.W_OK)
        return null
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        return `Cannot write to the artifact directory ${root} (${code}). Make it writable, or set ARTIFACT_DIR or NODE_ARTIFACTS_BUCKET.`
      }
    },
  }
}
