import fs from 'node:fs'
import path from 'node:path'

// Readers for files below /proc, /sys and /run of a host root, which containers and tests set. Missing and unreadable files are null,
// never an error.

export function readText(root: string, file: string): string | null {
  try {
    return fs.readFileSync(root + file, 'utf8').trim()
  } catch {
    return null
  }
}

/** Reads a non-negative integer; null for anything else, and for -1, which sysfs uses for unknown values. */
export function readNumber(root: string, file: string): number | null {
  const text = readText(root, file)
  return text !== null && /^\d+$/.test(text) ? Number(text) : null
}

export function listFolder(root: string, folder: string): string[] {
  try {
    return fs.readdirSync(root + folder).sort()
  } catch {
    return []
  }
}

/** Reads the last path component of a symbolic link, such as the driver of a device. */
export function readLinkName(root: string, file: string): string | null {
  try {
    return path.basename(fs.readlinkSync(root + file))
  } catch {
    return null
  }
}

export const fileExists = (root: string, file: string) => fs.existsSync(root + file)

export function sum(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length ? known.reduce((a, b) => a + b, 0) : null
}

export const max = (values: (number | null)[]) => {
  const known = values.filter((value) => value !== null)
  return known.length ? Math.max(...known) : null
}

/** Percentage with one decimal, clamped to 0-100; null when `whole` is 0. */
export function percent(part: number, whole: number): number | null {
  return whole > 0 ? Math.round(Math.min(1, Math.max(0, part / whole)) * 1000) / 10 : null
}

/** Replaces a file atomically and syncs it to disk. */
export function writeFileAtomic(file: string, content: string): void {
  const temporary = `${file}.new`
  const handle = fs.openSync(temporary, 'w', 0o600)
  try {
    fs.writeSync(handle, content)
    fs.fsyncSync(handle)
  } finally {
    fs.closeSync(handle)
  }
  fs.renameSync(temporary, file)
  const folder = fs.openSync(path.dirname(file), 'r')
  try {
    fs.fsyncSync(folder)
  } finally {
    fs.closeSync(folder)
  }
}
