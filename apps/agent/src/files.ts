import fs from 'node:fs'
import path from 'node:path'

// Everything of /proc, /sys and /run is read through these, below a root that a container or a test can set. What is not there or may
// not be read is null, never an error.

export function text(root: string, file: string): string | null {
  try {
    return fs.readFileSync(root + file, 'utf8').trim()
  } catch {
    return null
  }
}

/** The whole number that a file holds; null for anything else, and for what sysfs says when it does not know (-1). */
export function number(root: string, file: string): number | null {
  const found = text(root, file)
  return found !== null && /^\d+$/.test(found) ? Number(found) : null
}

export function names(root: string, folder: string): string[] {
  try {
    return fs.readdirSync(root + folder).sort()
  } catch {
    return []
  }
}

export const exists = (root: string, file: string) => fs.existsSync(root + file)

export function sum(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length ? known.reduce((a, b) => a + b, 0) : null
}

export const max = (values: (number | null)[]) => {
  const known = values.filter((value) => value !== null)
  return known.length ? Math.max(...known) : null
}

/** A share as a percentage of one decimal, held within 0 to 100; null when there is no whole. */
export function percent(part: number, whole: number): number | null {
  return whole > 0 ? Math.round(Math.min(1, Math.max(0, part / whole)) * 1000) / 10 : null
}

/** Replaces a file in one step and waits until it is on the disk. */
export function writeDurably(file: string, content: string): void {
  const fresh = `${file}.new`
  const handle = fs.openSync(fresh, 'w', 0o600)
  try {
    fs.writeSync(handle, content)
    fs.fsyncSync(handle)
  } finally {
    fs.closeSync(handle)
  }
  fs.renameSync(fresh, file)
  const folder = fs.openSync(path.dirname(file), 'r')
  try {
    fs.fsyncSync(folder)
  } finally {
    fs.closeSync(folder)
  }
}
