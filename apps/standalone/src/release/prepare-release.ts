import fs from 'node:fs'
import path from 'node:path'

const EMPTY = 'No changes yet.'

/** Why `version` cannot follow `current`; null when it can. */
export function versionIssue(version: string | undefined, current: string): string | null {
  if (!version || !/^\d+\.\d+\.\d+$/.test(version))
    return `Name the new version, such as ${current.replace(/\d+$/, (n) => String(Number(n) + 1))}.`
  return version.localeCompare(current, 'en', { numeric: true }) > 0 ? null : `${version} is not newer than ${current}.`
}

/**
 * Names the section Unreleased of a changelog after the release and adds an empty one before it.
 * @param date of the release, YYYY-MM-DD
 * @throws Error when the section is missing or empty
 */
export function releaseChangelog(text: string, version: string, date: string): string {
  const section = /^## Unreleased\n+([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(text)
  const changes = section?.[1]?.trim()
  if (!section || !changes || changes === EMPTY) throw new Error('The section "## Unreleased" of CHANGELOG.md lists no changes.')
  const released = `## Unreleased\n\n${EMPTY}\n\n## ${version} (${date})\n\n${changes}\n${section.index + section[0].length < text.length ? '\n' : ''}`
  return text.slice(0, section.index) + released + text.slice(section.index + section[0].length)
}

/** Sets the version in package.json of the repository and of each workspace folder. @returns the changed files */
export function setVersions(root: string, version: string): string[] {
  const files = fs.globSync(['package.json', '{apps,packages}/*/package.json'], { cwd: root })
  for (const file of files) {
    const text = fs.readFileSync(path.join(root, file), 'utf8')
    fs.writeFileSync(path.join(root, file), text.replace(/^ {2}"version": "[^"]*"/m, `  "version": "${version}"`))
  }
  return files
}
