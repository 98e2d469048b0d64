import { chownSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** A file to write into a tree: absolute path inside it, mode (default 0644), owner (default root); or a symbolic link. */
export interface FileSpec {
  path: string
  content: string
  mode?: number
  uid?: number
  link?: string
}

/**
 * Writes files below root and creates their directories. Synchronous: a lab has thousands of small files on a tmpfs, for which the
 * thread pool costs more than the writes.
 */
export function writeFiles(root: string, files: FileSpec[]): void {
  const created = new Set<string>()
  for (const file of files) {
    const target = path.join(root, file.path)
    const parent = path.dirname(target)
    if (!created.has(parent)) mkdirSync(parent, { recursive: true })
    created.add(parent)
    if (file.link) symlinkSync(file.link, target)
    else writeFileSync(target, file.content, { mode: file.mode ?? 0o644 })
    if (file.uid) chownSync(target, file.uid, file.uid)
  }
}

/** Hides paths of the lower layers with hard links to one overlayfs whiteout (a 0:0 character device). */
export function hidePaths(root: string, whiteout: string, paths: string[]): void {
  for (const hidden of new Set(paths)) {
    const target = path.join(root, hidden)
    mkdirSync(path.dirname(target), { recursive: true })
    linkSync(whiteout, target)
  }
}
