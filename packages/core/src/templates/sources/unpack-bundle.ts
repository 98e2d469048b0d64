import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Parser } from 'tar'
import { fromBufferPromise } from 'yauzl'
import { InvalidInput } from '../../kernel/errors.ts'
import { pathEscapeReason } from './path-inside.ts'

const MIB = 1024 * 1024
/** Limits of a bundle; sizes in bytes. */
export const BUNDLE_LIMITS = { archive: 10 * MIB, unpacked: 50 * MIB, files: 2000 }
// A tar has up to three blocks of 512 bytes per file besides its content, and two at its end.
const TAR_OVERHEAD = (BUNDLE_LIMITS.files * 4 + 20) * 512

export type UnpackedFile = { path: string; bytes: Buffer; isExecutable: boolean }

const wrong = (message: string) => new InvalidInput([{ path: 'content', message }])
const tooLarge = () => wrong(`is larger than ${BUNDLE_LIMITS.unpacked / MIB} MiB when unpacked`)

/**
 * Unpacks a tar.gz or zip in memory. It writes no files, so a path cannot escape a folder. The archive may contain only plain
 * files and folders; every link is rejected.
 * @throws InvalidInput at content
 */
export async function unpackBundle(archive: Buffer): Promise<UnpackedFile[]> {
  if (archive.length > BUNDLE_LIMITS.archive) throw wrong(`has more than ${BUNDLE_LIMITS.archive / MIB} MiB`)
  const files = new Files()
  if (archive.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))) await fromTarGz(archive, files)
  else if (archive.subarray(0, 2).toString('latin1') === 'PK') await fromZip(archive, files)
  else throw wrong('is neither a tar.gz nor a zip')
  return files.list()
}

/** Collects files and enforces the limits. */
class Files {
  private readonly found: UnpackedFile[] = []
  private readonly paths = new Set<string>()
  private readonly folders = new Set<string>()
  private size = 0

  /** Validates an entry's header before its content is read. @returns its path, null for a folder */
  admit(name: string, type: 'file' | 'folder' | 'other', size: number): string | null {
    const path = name.replace(/^(?:\.\/+)+/, '').replace(/\/+$/, '')
    const shown = JSON.stringify(name.slice(0, 200))
    if (type === 'other') throw wrong(`holds ${shown}, which is a link or a device; only files and folders may be in it`)
    if (type === 'folder' && (path === '' || path === '.')) return null
    const reason = pathEscapeReason(path)
    if (reason) throw wrong(`holds ${shown}: a path ${reason}`)
    const parts = path.split('/')
    const above = parts.slice(0, -1).map((_, i) => parts.slice(0, i + 1).join('/'))
    for (const folder of type === 'folder' ? [...above, path] : above) {
      if (this.paths.has(folder)) throw wrong(`holds ${JSON.stringify(folder)} both as a file and as a folder`)
      this.folders.add(folder)
    }
    if (this.paths.size + this.folders.size >= BUNDLE_LIMITS.files)
      throw wrong(`holds more than ${BUNDLE_LIMITS.files} files and folders`)
    if (type === 'folder') return null
    if (this.paths.has(path) || this.folders.has(path)) throw wrong(`holds ${shown} twice`)
    this.paths.add(path)
    this.size += size
    if (this.size > BUNDLE_LIMITS.unpacked) throw tooLarge()
    return path
  }

  add(file: UnpackedFile): void {
    this.found.push(file)
  }

  list(): UnpackedFile[] {
    if (this.found.length === 0) throw wrong('holds no files')
    return this.found.sort((a, b) => (a.path < b.path ? -1 : 1))
  }
}

async function fromTarGz(archive: Buffer, files: Files): Promise<void> {
  const tar = await promisify(gunzip)(archive, { maxOutputLength: BUNDLE_LIMITS.unpacked + TAR_OVERHEAD }).catch((error) => {
    throw error.code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : wrong('is broken: it does not unzip')
  })
  // The parser would decompress nested archives without our limit.
  if (tar.length < 512 || tar.subarray(257, 262).toString('latin1') !== 'ustar') throw wrong('is no tar inside its gzip')
  await new Promise<void>((resolve, reject) => {
    let failure: unknown
    const parser = new Parser({
      strict: true,
      onReadEntry(entry) {
        try {
          const isFile = ['File', 'OldFile', 'ContiguousFile'].includes(entry.type)
          const type = isFile ? 'file' : entry.type === 'Directory' ? 'folder' : 'other'
          const path = failure ? null : files.admit(entry.path, type, entry.size)
          if (path === null) return void entry.resume()
          const chunks: Buffer[] = []
          entry.on('data', (chunk) => chunks.push(chunk))
          entry.on('end', () =>
            files.add({ path, bytes: Buffer.concat(chunks), isExecutable: ((entry.mode ?? 0) & 0o100) !== 0 }),
          )
        } catch (error) {
          failure ??= error
          entry.resume()
        }
      },
    })
    parser.on('error', () => reject(failure ?? wrong('is a broken tar')))
    parser.on('end', () => (failure ? reject(failure) : resolve()))
    parser.end(tar)
  })
}

async function fromZip(archive: Buffer, files: Files): Promise<void> {
  const broken = (error: unknown) =>
    error instanceof InvalidInput ? error : wrong(`is a broken zip: ${(error as Error).message}`)
  try {
    const zip = await fromBufferPromise(archive, { lazyEntries: true, strictFileNames: true })
    for await (const entry of zip.eachEntry()) {
      // The upper half is the file mode when the archive was written on Unix, else 0.
      const mode = entry.externalFileAttributes >>> 16
      const format = mode & 0o170000
      const isFolder = entry.fileName.endsWith('/')
      const type = format !== 0 && format !== 0o100000 && format !== 0o040000 ? 'other' : isFolder ? 'folder' : 'file'
      if (entry.isEncrypted()) throw wrong('is encrypted')
      const path = files.admit(entry.fileName, type, entry.uncompressedSize)
      if (path === null) continue
      const chunks: Buffer[] = []
      for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk)
      files.add({ path, bytes: Buffer.concat(chunks), isExecutable: (mode & 0o100) !== 0 })
    }
  } catch (error) {
    throw broken(error)
  }
}
