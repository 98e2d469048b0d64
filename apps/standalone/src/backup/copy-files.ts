import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

export type Copied = { bytes: number; sha256: string }
const CHUNK = 1 << 20

/**
 * Copies one regular file and returns its size and checksum.
 * @returns null when the file no longer exists: files of a running server may be removed at any time
 */
export async function copyFile(from: string, to: string): Promise<Copied | null> {
  const source = await open(from, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (!source) return null
  try {
    fs.mkdirSync(path.dirname(to), { recursive: true, mode: 0o700 })
    const target = await open(to, 'wx', 0o600)
    try {
      return await readAll(source, (chunk) => target.writeFile(chunk))
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/**
 * Flushes the file system of `dir` to disk. One call for all files, because syncing each of the thousand files of a cluster takes a
 * minute on a slow disk.
 */
export async function syncFileSystem(dir: string): Promise<void> {
  await promisify(execFile)('sync', process.platform === 'linux' ? ['-f', dir] : [])
}

/** Size and checksum of a file. */
export async function checksumOf(file: string): Promise<Copied> {
  const source = await open(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW)
  try {
    return await readAll(source, async () => {})
  } finally {
    await source.close()
  }
}

async function readAll(source: FileHandle, onChunk: (chunk: Buffer) => Promise<void>): Promise<Copied> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(CHUNK)
  for (let bytes = 0; ; ) {
    const { bytesRead } = await source.read(buffer, 0, CHUNK)
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') }
    const chunk = buffer.subarray(0, bytesRead)
    hash.update(chunk)
    bytes += bytesRead
    await onChunk(chunk)
  }
}

/** Regular files and empty directories below `dir`, as relative paths. Both are empty when `dir` does not exist. */
export function listFiles(
  dir: string,
  isExcluded: (name: string) => boolean = () => false,
): { files: string[]; folders: string[] } {
  const [files, folders]: [string[], string[]] = [[], []]
  const visit = (folder: string) => {
    const entries = fs.readdirSync(path.join(dir, folder), { withFileTypes: true })
    if (entries.length === 0 && folder) folders.push(folder)
    let included = 0
    for (const entry of entries) {
      const name = path.posix.join(folder, entry.name)
      if (isExcluded(name)) continue
      included++
      if (entry.isDirectory()) visit(name)
      else if (entry.isFile()) files.push(name)
      else
        throw new Error(
          `${path.join(dir, name)} is neither a file nor a directory and cannot be backed up. Move it out of the directory.`,
        )
    }
    if (entries.length > 0 && included === 0) folders.push(folder)
  }
  if (fs.existsSync(dir)) visit('')
  return { files, folders }
}
