import { statfs } from 'node:fs/promises'
import type { Observation } from '../kernel/finding.ts'

const GIB = 1024 ** 3
export type FreeSpace = { freeBytes: number; totalBytes: number }

/** Checks the free space of the file systems of some directories. Missing directories are not reported. */
export async function checkDisk(
  paths: string[],
  measure: (path: string) => Promise<FreeSpace | null> = freeSpace,
): Promise<Observation[]> {
  const found: Observation[] = []
  const smallest: { path: string; freeBytes: number }[] = []
  for (const path of new Set(paths)) {
    const space = await measure(path)
    if (!space) continue
    const { freeBytes, totalBytes } = space
    smallest.push({ path, freeBytes })
    const share = freeBytes / totalBytes
    const isFull = freeBytes < GIB / 4 || share < 0.01
    if (!isFull && freeBytes >= 2 * GIB && share >= 0.05) continue
    found.push({
      check: 'DISK',
      severity: isFull ? 'ERROR' : 'WARNING',
      message: `The file system of ${path} has ${gib(freeBytes)} free (${Math.floor(share * 100)} %).`,
      nextStep: 'Free space, enlarge the file system, or delete old runs sooner (`muster retention set`).',
    })
  }
  if (found.length || smallest.length === 0) return found
  const { path, freeBytes } = smallest.sort((a, b) => a.freeBytes - b.freeBytes)[0]!
  return [{ check: 'DISK', severity: 'OK', message: `${gib(freeBytes)} free at ${path}.`, nextStep: null }]
}

const gib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`

async function freeSpace(path: string): Promise<FreeSpace | null> {
  const found = await statfs(path).catch(() => null)
  return found && found.blocks > 0 ? { freeBytes: found.bavail * found.bsize, totalBytes: found.blocks * found.bsize } : null
}
