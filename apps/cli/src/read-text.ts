import { readFileSync } from 'node:fs'
import { CliError, EXIT } from './errors.ts'

/** The content of a file that the user named. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage)
  }
}
