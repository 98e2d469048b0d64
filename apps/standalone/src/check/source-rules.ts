import fs from 'node:fs'
import path from 'node:path'

/** Source files per folder, without tests; a larger folder must be split. */
export const MAX_FILES_PER_FOLDER = 30

/** Folders of apps/ and packages/ with too many source files, as `FOLDER: N files`. */
export function findCrowdedFolders(root: string): string[] {
  const counts = new Map<string, number>()
  for (const file of sourceFiles(root, '{apps,packages}/*/**/*.{ts,tsx}')) {
    if (/\.test\.tsx?$/.test(file)) continue
    const folder = path.dirname(file)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > MAX_FILES_PER_FOLDER).map(([folder, count]) => `${folder}: ${count} files`)
}

/** Files of the API that write to the database themselves; writes belong to the functions of packages/core. */
export function findApiWrites(root: string): string[] {
  return sourceFiles(root, 'apps/api/src/**/*.ts').filter((file) => {
    if (/\.test\.ts$|\/testing\//.test(file)) return false
    return /\b(db|tx)\s*\.(insert|update|delete|transaction)\(/.test(withoutComments(path.join(root, file)))
  })
}

function sourceFiles(root: string, pattern: string): string[] {
  const isExcluded = (name: string) => ['node_modules', '.next', 'dist'].includes(path.basename(name))
  return fs.globSync(pattern, { cwd: root, exclude: isExcluded })
}

function withoutComments(file: string): string {
  return fs
    .readFileSync(file, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
}
