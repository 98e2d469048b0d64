import fs from 'node:fs'

const PT_INTERP = 3
const MACHINES: Record<number, string> = { 62: 'x64', 183: 'arm64' }

/** For which processor a program is (64 bits, little-endian), and which loader it asks for, which tells one libc from the other. */
export function readElf(file: string): { machine: string | undefined; interpreter: string | undefined } {
  const handle = fs.openSync(file, 'r')
  try {
    const part = (at: number, length: number) => {
      const bytes = Buffer.alloc(length)
      fs.readSync(handle, bytes, 0, length, at)
      return bytes
    }
    const header = part(0, 64)
    const [start, size, count] = [Number(header.readBigUInt64LE(32)), header.readUInt16LE(54), header.readUInt16LE(56)]
    const segments = Array.from({ length: count }, (_, i) => part(start + i * size, size))
    const found = segments.find((segment) => segment.readUInt32LE(0) === PT_INTERP)
    const interpreter =
      found &&
      part(Number(found.readBigUInt64LE(8)), Number(found.readBigUInt64LE(32)))
        .toString()
        .replace(/\0.*$/, '')
    return { machine: MACHINES[header.readUInt16LE(18)], interpreter }
  } finally {
    fs.closeSync(handle)
  }
}
