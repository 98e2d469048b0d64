import fs from 'node:fs'

/**
 * An append-only file that never takes more than `keep` + 1 times `maxBytes`: a full one becomes FILE.1, FILE.1 becomes FILE.2, …
 * Writes are synchronous: what a process said before it died must be in the file.
 */
export function openLogFile(
  file: string,
  { maxBytes = 10_000_000, keep = 2 } = {},
): { write: (chunk: string | Buffer) => void; close: () => void } {
  let fd = fs.openSync(file, 'a', 0o600)
  let size = fs.fstatSync(fd).size
  const rotate = () => {
    fs.closeSync(fd)
    for (let n = keep; n > 0; n--) {
      const from = n === 1 ? file : `${file}.${n - 1}`
      if (fs.existsSync(from)) fs.renameSync(from, `${file}.${n}`)
    }
    fd = fs.openSync(file, 'w', 0o600)
    size = 0
  }
  return {
    write: (chunk) => {
      if (size >= maxBytes) rotate()
      size += fs.writeSync(fd, typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    },
    close: () => fs.closeSync(fd),
  }
}
