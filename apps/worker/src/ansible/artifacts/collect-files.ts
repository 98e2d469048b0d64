import { createHash } from 'node:crypto'
import { constants, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const MAX_FILES = 1000
const MAX_DEPTH = 16
const MAX_PATH = 1024

/** `path` is relative to the artifact directory; `file` is a copy that only the worker writes. */
export type CollectedFile = { path: string; file: string; size: number; sha256: string }

/**
 * Copies the regular files that a playbook left in `from` to `into`. Symbolic links are never followed, even when a process swaps
 * them in during the copy.
 * @returns the copies, and for each skipped entry its path with the reason
 */
export async function collectFiles(
  from: string,
  into: string,
  maxBytes: number,
): Promise<{ files: CollectedFile[]; skipped: string[] }> {
  const files: CollectedFile[] = []
  const skipped: string[] = []
  let remaining = maxBytes
  await mkdir(into, { recursive: true, mode: 0o700 })
  const root = await realpath(from)

  const collect = async (path: string) => {
    if (files.length >= MAX_FILES) return skipped.push(`${path} (a run stores at most ${MAX_FILES} files)`)
    const file = join(into, String(files.length))
    const source = join(root, path)
    const handle = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { size } = await handle.stat()
      // The path of the open descriptor: a parent folder may have become a link since.
      const opened = process.platform === 'linux' ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(source)
      if (!(await handle.stat()).isFile() || opened !== source) return skipped.push(`${path} (not a file)`)
      if (size > remaining) return skipped.push(`${path} (${size} bytes; ${remaining} bytes remain)`)
      const copied = await copy(handle.createReadStream({ autoClose: false, end: Math.max(0, size - 1) }), file)
      remaining -= copied.size
      files.push({ path, file, ...copied })
    } finally {
      await handle.close()
    }
  }
  const walk = async (folder: string, depth: number) => {
    const entries = await readdir(join(root, folder), { withFileTypes: true })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (path.length > MAX_PATH) skipped.push(`${path.slice(0, 100)}… (path longer than ${MAX_PATH} characters)`)
      else if (entry.isDirectory() && depth >= MAX_DEPTH) skipped.push(`${path} (deeper than ${MAX_DEPTH} folders)`)
      else if (entry.isDirectory()) await walk(path, depth + 1)
      else if (!entry.isFile()) skipped.push(`${path} (not a file)`)
      else await collect(path).catch((error) => skipped.push(`${path} (${error.code ?? 'cannot be read'})`))
    }
  }
  await walk('', 1)
  return { files, skipped }
}

/** Writes `source` to `file` and returns its size and SHA-256. */
export async function copy(source: AsyncIterable<string | Buffer>, file: string): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256')
  let size = 0
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      size += chunk.length
      done(null, chunk)
    },
  })
  try {
    await pipeline(source, count, createWriteStream(file, { mode: 0o600 }))
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
  return { size, sha256: hash.digest('hex') }
}
