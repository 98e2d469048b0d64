import { chownSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** A file to lay into a tree: absolute path inside it, octal mode (default 0644), owner (default root); or a symbolic link. */
export interface FileSpec {
  path: string
  content: string
  mode?: number
  uid?: number
  link?: string
}

/**
 * Writes files below root, with the directories that lead to them. Synchronous on purpose: a lab is some thousand small
 * files on a tmpfs, and the thread pool would cost more than the writes.
 */
export function writeFiles(root: string, files: FileSpec[]): void {
  const made = new Set<string>()
  for (const file of files) {
    const target = path.join(root, file.path)
    const parent = path.dirname(target)
    if (!made.has(parent)) mkdirSync(parent, { recursive: true })
    made.add(parent)
    if (file.link) symlinkSync(file.link, target)
    else writeFileSync(target, file.content, { mode: file.mode ?? 0o644 })
    if (file.uid) chownSync(target, file.uid, file.uid)
  }
}

/** Hides paths of the lower layers by hard links to one whiteout (a 0:0 character device, as overlayfs wants it). */
export function hidePaths(root: string, whiteout: string, paths: string[]): void {
  for (const hidden of new Set(paths)) {
    const target = path.join(root, hidden)
    mkdirSync(path.dirname(target), { recursive: true })
    linkSync(whiteout, target)
  }
}
