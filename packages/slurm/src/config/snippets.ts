import type { KeyTable } from './key-table.ts'
import { CGROUP_CONF_KEYS, SLURM_CONF_KEYS } from './keys.ts'
import { type ConfigLine, parseConfig } from './parse.ts'
import type { ConfigFiles } from './types.ts'

/** Files for which snippets have lines. */
export const SNIPPET_FILES = ['slurm.conf', 'gres.conf', 'cgroup.conf'] as const
export type SnippetFileName = (typeof SNIPPET_FILES)[number]
export type SnippetFiles = Partial<Record<SnippetFileName, string>>

/** Named lines that several clusters have in their files, each between two comments with the name. */
export type ConfigSnippet = { name: string; files: SnippetFiles }

/** A line of a snippet whose key the file sets elsewhere, in line `line`. */
export type SnippetConflict = { snippet: string; file: SnippetFileName; line: number; message: string }

const MARK = /^[ \t]*#[ \t]*(BEGIN|END) MUSTER SNIPPET\b/
const begin = (name: string) => `# BEGIN MUSTER SNIPPET ${name}`
const end = (name: string) => `# END MUSTER SNIPPET ${name}`

type Block = { name: string; first: number; last: number }

/** Blocks of snippets, by the indexes of their comments. A comment without its counterpart is no block. */
function findBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = []
  for (let first = 0; first < lines.length; first++) {
    const [, name] = /^# BEGIN MUSTER SNIPPET (\S+)\s*$/.exec(lines[first]!) ?? []
    if (name === undefined) continue
    const last = lines.findIndex((line, index) => index > first && line.trimEnd() === end(name))
    if (last < 0) continue
    blocks.push({ name, first, last })
    first = last
  }
  return blocks
}

/** Physical lines without their ends; the last one is empty when the text ends with a line end. */
const toLines = (text: string): string[] => text.split('\n')

function removeBlocks(text: string, isGone: (name: string) => boolean): string {
  const lines = toLines(text)
  const gone = findBlocks(lines).filter(({ name }) => isGone(name))
  return lines.filter((_, index) => !gone.some(({ first, last }) => index >= first && index <= last)).join('\n')
}

/** Lines that define things; settings come before them, so that DEFAULT lines of a snippet apply to them. */
const DEFINITIONS = new Set(['nodename', 'nodeset', 'partitionname', 'downnodes', 'frontendname', 'name'])

function setBlock(text: string, name: string, given: string): string {
  const lines = toLines(text)
  const block = findBlocks(lines).find((one) => one.name === name)
  const own = given === '' ? [] : [begin(name), ...toLines(given.replace(/\n$/, '')), end(name)]
  if (block) return [...lines.slice(0, block.first), ...own, ...lines.slice(block.last + 1)].join('\n')
  if (own.length === 0) return text
  const parsed = parseConfig(text).lines
  const definition = parsed.findIndex(({ fields }) => fields[0] && DEFINITIONS.has(fields[0].key.toLowerCase()))
  const texts = parsed.map((line) => line.text)
  const head = texts.slice(0, definition < 0 ? undefined : definition).join('')
  const tail = definition < 0 ? '' : texts.slice(definition).join('')
  return `${head === '' || head.endsWith('\n') ? head : `${head}\n`}${own.join('\n')}\n${tail}`
}

/** Files with the lines of a snippet as they should be; lines of other snippets stay. */
function withSnippet(files: ConfigFiles, { name, files: own }: ConfigSnippet): ConfigFiles {
  const result = { ...files }
  for (const file of SNIPPET_FILES) {
    const text = setBlock(files[file] ?? '', name, own[file] ?? '')
    if (text !== (files[file] ?? '')) result[file] = text
  }
  return result
}

const isSame = (a: ConfigFiles, b: ConfigFiles) => SNIPPET_FILES.every((file) => a[file] === b[file])

/** Names of the snippets that the files have lines of. */
export const snippetNames = (files: ConfigFiles): string[] => [
  ...new Set(SNIPPET_FILES.flatMap((file) => findBlocks(toLines(files[file] ?? '')).map(({ name }) => name))),
]

/** Whether the files have exactly the lines of a snippet. */
export const hasSnippet = (files: ConfigFiles, snippet: ConfigSnippet): boolean => isSame(files, withSnippet(files, snippet))

/**
 * Brings files in line with the snippets of a cluster: sets their lines, and removes those of other snippets. A snippet with a conflict is
 * left as the files have it.
 */
export function applySnippets(
  files: ConfigFiles,
  snippets: readonly ConfigSnippet[],
): { files: ConfigFiles; conflicts: SnippetConflict[] } {
  const names = new Set(snippets.map(({ name }) => name))
  let result = { ...files }
  for (const file of SNIPPET_FILES) {
    const text = files[file]
    if (text !== undefined) result[file] = removeBlocks(text, (name) => !names.has(name))
  }
  const conflicts: SnippetConflict[] = []
  for (const snippet of snippets.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const own = SNIPPET_FILES.flatMap((file) => findConflicts(result, snippet, file))
    if (own.length > 0) conflicts.push(...own)
    else result = withSnippet(result, snippet)
  }
  return { files: result, conflicts }
}

/** What a line sets: Slurm would use one of two such lines only. Null for lines that may be repeated, which `checkConfig` judges. */
function subjectOf(file: SnippetFileName, { fields: [first] }: ConfigLine): string | null {
  if (!first) return null
  const key = first.key.toLowerCase()
  if (file === 'gres.conf') return key === 'autodetect' ? key : null
  const isList = file === 'slurm.conf' && SLURM_CONF_KEYS.get(key)?.some(({ type }) => type === 'LIST')
  if (!isList) return key
  return first.value.toLowerCase() === 'default' ? null : `${key}=${first.value.toLowerCase()}`
}

function findConflicts(files: ConfigFiles, snippet: ConfigSnippet, file: SnippetFileName): SnippetConflict[] {
  const own = snippet.files[file] ?? ''
  if (own === '') return []
  const lines = toLines(files[file] ?? '')
  const blocks = findBlocks(lines)
  const block = blocks.find(({ name }) => name === snippet.name)
  // Emptied instead of removed: the numbers of the other lines stay.
  const others = lines.map((line, index) => (block && index >= block.first && index <= block.last ? '' : line))
  const elsewhere = new Map(parseConfig(others.join('\n')).lines.map((line) => [subjectOf(file, line), line]))
  return parseConfig(own).lines.flatMap((line) => {
    const subject = subjectOf(file, line)
    const other = subject === null ? undefined : elsewhere.get(subject)
    if (!other) return []
    const owner = blocks.find(({ first, last }) => other.number > first + 1 && other.number <= last)?.name
    const where = owner ? `the snippet ${owner}` : `line ${other.number} of ${file}`
    const { key, value } = other.fields[0]!
    return [
      {
        snippet: snippet.name,
        file,
        line: other.number,
        message: `${subject!.includes('=') ? `${key}=${value}` : key} is also in ${where}.`,
      },
    ]
  })
}

const KEYS: Record<SnippetFileName, KeyTable | null> = {
  'slurm.conf': SLURM_CONF_KEYS,
  'gres.conf': null,
  'cgroup.conf': CGROUP_CONF_KEYS,
}

/** Why lines cannot be a snippet of any cluster. The checks for the release of a cluster need its other lines. */
export function snippetProblems(files: SnippetFiles): { path: string; message: string }[] {
  const problems = SNIPPET_FILES.flatMap((file) => {
    const text = files[file] ?? ''
    const report = (line: number, message: string) => ({ path: `${file}:${line}`, message })
    const marks = toLines(text).flatMap((line, index) =>
      MARK.test(line) ? [report(index + 1, 'is a comment that marks snippets in the files of a cluster')] : [],
    )
    const seen = new Set<string>()
    const lines = parseConfig(text).lines.flatMap((line) => {
      const subject = subjectOf(file, line)
      const isTwice = subject !== null && seen.has(subject)
      if (subject !== null) seen.add(subject)
      const key = line.fields[0]?.key
      if (line.rest !== null) return report(line.number, `Slurm cannot read ${JSON.stringify(line.rest.slice(0, 80))}`)
      if (isTwice) return report(line.number, `${key} appears twice`)
      if (key !== undefined && KEYS[file] && !KEYS[file].has(key.toLowerCase()))
        return report(line.number, `the key ${key} is not known to Slurm`)
      return []
    })
    const continues = /\\[ \t]*\n?$/.test(text) ? [report(toLines(text.trimEnd()).length, 'must not end with a backslash')] : []
    return [...marks, ...lines, ...continues]
  })
  const isEmpty = SNIPPET_FILES.every((file) => parseConfig(files[file] ?? '').lines.every(({ fields }) => fields.length === 0))
  return isEmpty && problems.length === 0 ? [{ path: 'files', message: 'must have at least one line with a key' }] : problems
}
