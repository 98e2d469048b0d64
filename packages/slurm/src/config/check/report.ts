import type { ConfigLine } from '../parse.ts'
import type { ConfigFileName, ConfigProblem } from '../types.ts'

/** Collects the problems of one file. */
export class Report {
  readonly problems: ConfigProblem[] = []
  readonly #file: ConfigFileName
  constructor(file: ConfigFileName) {
    this.#file = file
  }

  error(line: ConfigLine | null, key: string | null, message: string): void {
    this.#add('ERROR', line, key, message)
  }

  warn(line: ConfigLine | null, key: string | null, message: string): void {
    this.#add('WARNING', line, key, message)
  }

  #add(severity: ConfigProblem['severity'], line: ConfigLine | null, key: string | null, message: string): void {
    this.problems.push({ file: this.#file, line: line?.number ?? null, key, severity, message })
  }
}

/** At most five of them, for messages. */
export const listed = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
