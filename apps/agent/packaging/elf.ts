import fs from 'node:fs'

const PT_INTERP = 3
const MACHINES: Record<number, string> = { 62: 'x64', 183: 'arm64' }

/** Reads the architecture and the loader (which identifies the libc) of a 64-bit little-endian ELF file. */
export function readElf(file: string): { machine: string | undefined; interpreter: string | undefined } {
  const handle = fs.openSync(file, 'r')
  try {
    const readAt = (offset: number, length: number) => {
      const bytes = Buffer.alloc(length)
      fs.readSync(handle, bytes, 0, length, offset)
      return bytes
    }
    const header = readAt(0, 64)
    const [start, size, count] = [Number(header.readBigUInt64LE(32)), header.readUInt16LE(54), header.readUInt16LE(56)]
    const segments = Array.from({ length: count }, (_, i) => readAt(start + i * size, size))
    const interpreterSegment = segments.find((segment) => segment.readUInt32LE(0) === PT_INTERP)
    const interpreter =
      interpreterSegment &&
      readAt(Number(interpreterSegment.readBigUInt64LE(8)), Number(interpreterSegment.readBigUInt64LE(32)))
        .toString()
        .replace(/\0.*$/, '')
    return { machine: MACHINES[header.readUInt16LE(18)], interpreter }
  } finally {
    fs.closeSync(handle)
  }
}
