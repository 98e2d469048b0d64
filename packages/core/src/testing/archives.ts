import { crc32, gzipSync } from 'node:zlib'
import { Header } from 'tar'

/** An entry of an archive, valid or not. `type` is tar's; zip supports files and links only. */
export type ArchiveEntry = {
  path: string
  text?: string
  type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice'
  target?: string
  mode?: number
}

/** A tar.gz with exactly these entries, in this order. */
export function tarGz(entries: ArchiveEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, text = '', type = 'File', target = '', mode = 0o644 }) => {
    const content = Buffer.from(text)
    const size = type === 'File' ? content.length : 0
    return [
      ...longName(path),
      block({ path: path.slice(0, 99), type, linkpath: target, mode, size }),
      padded(content.subarray(0, size)),
    ]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]), { level: 1 })
}

/** GNU tar's extra entry before an entry with a path that is too long for its header. */
function longName(path: string): Buffer[] {
  const name = Buffer.from(`${path}\0`)
  if (name.length <= 100) return []
  return [block({ path: '././@LongLink', type: 'NextFileHasLongPath', mode: 0, size: name.length }), padded(name)]
}

function block(fields: ConstructorParameters<typeof Header>[0] & object): Buffer {
  const bytes = Buffer.alloc(512)
  new Header(fields as never).encode(bytes, 0)
  return bytes
}

const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])

/** A zip with exactly these entries, uncompressed, with Unix attributes. */
export function zip(entries: ArchiveEntry[]): Buffer {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const { path, text = '', type = 'File', target = '', mode = 0o644 } of entries) {
    const name = Buffer.from(path)
    const content = Buffer.from(type === 'SymbolicLink' ? target : text)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x800, 2)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(content.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, content])
    const location = Buffer.alloc(14)
    location.writeUInt32LE((((type === 'SymbolicLink' ? 0o120000 : 0o100000) | mode) << 16) >>> 0, 6)
    location.writeUInt32LE(offset, 10)
    centrals.push(Buffer.from('PK\x01\x02\x14\x03'), common, location, name)
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}
