import { createHash } from 'node:crypto'
import { constants, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const MAX_FILES = 1000
const MAX_DEPTH = 16
const MAX_PATH = 1024

/** `path` is relative to the artifact directory, `file` a copy that nobody else writes. */
export type CollectedFile = { path: string; file: string; size: number; sha256: string }

/**
 * Copy what a playbook left in `from` to `into`: regular files only, and no symbolic link is followed, whoever made it and when.
 * @returns the copies, and in words what was left out and why
 */
export async function collectFiles(
  from: string,
  into: string,
  maxBytes: number,
): Promise<{ files: CollectedFile[]; leftOut: string[] }> {
  const files: CollectedFile[] = []
  const leftOut: string[] = []
  let room = maxBytes
  await mkdir(into, { recursive: true, mode: 0o700 })
  const root = await realpath(from)

  const take = async (path: string) => {
    if (files.length >= MAX_FILES) return leftOut.push(`${path} (a run keeps at most ${MAX_FILES} files)`)
    const file = join(into, String(files.length))
    const source = join(root, path)
    const handle = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { size } = await handle.stat()
      // Where it was opened, not where its path leads by now: the folders on the way may be links at times.
      const opened = process.platform === 'linux' ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(source)
      if (!(await handle.stat()).isFile() || opened !== source) return leftOut.push(`${path} (not a file)`)
      if (size > room) return leftOut.push(`${path} (${size} bytes, and there is room for ${room})`)
      const copied = await copy(handle.createReadStream({ autoClose: false, end: Math.max(0, size - 1) }), file)
      room -= copied.size
      files.push({ path, file, ...copied })
    } finally {
      await handle.close()
    }
  }
  const walk = async (folder: string, depth: number) => {
    const entries = await readdir(join(root, folder), { withFileTypes: true })
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (path.length > MAX_PATH) leftOut.push(`${path.slice(0, 100)}… (its path is longer than ${MAX_PATH})`)
      else if (entry.isDirectory() && depth >= MAX_DEPTH) leftOut.push(`${path} (more than ${MAX_DEPTH} folders deep)`)
      else if (entry.isDirectory()) await walk(path, depth + 1)
      else if (!entry.isFile()) leftOut.push(`${path} (not a file)`)
      else await take(path).catch((error) => leftOut.push(`${path} (${error.code ?? 'cannot be read'})`))
    }
  }
  await walk('', 1)
  return { files, leftOut }
}

/** What arrives is written to `file`, counted and hashed. */
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
