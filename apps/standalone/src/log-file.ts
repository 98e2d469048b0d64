import fs from 'node:fs'

/**
 * Opens a rotating log file: a full FILE becomes FILE.1, FILE.1 becomes FILE.2, up to `rotated` old files of `maxBytes` each.
 * Writes are synchronous, so that the last output of a crashed process is in the file.
 */
export function openLogFile(
  file: string,
  { maxBytes = 10_000_000, rotated = 2 } = {},
): { write: (chunk: string | Buffer) => void; close: () => void } {
  let fd = fs.openSync(file, 'a', 0o600)
  let size = fs.fstatSync(fd).size
  const rotate = () => {
    fs.closeSync(fd)
    for (let n = rotated; n > 0; n--) {
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
