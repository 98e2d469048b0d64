/** Input of a command that Slurm would read as something else. `message` names the value and what is expected. */
export class InvalidSlurmWord extends Error {
  override name = 'InvalidSlurmWord'
}

/**
 * What a word of a command may contain. Words are arguments of their own, so no shell reads them; these rules keep Slurm from reading
 * them as lists, options, further `key=value` pairs, or as ALL.
 */
const WORDS = {
  node: [/^(?!(?:all|default)$)[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/i, 'gpu01'],
  partition: [/^(?!(?:all|default)$)[A-Za-z0-9_][A-Za-z0-9._+-]{0,254}$/i, 'debug'],
  job: [/^[1-9]\d{0,9}(?:_\d{1,9}|_\[\d{1,9}(?:[-,:]\d{1,9}){0,1000}(?:%\d{1,9})?\]|\+\d{1,4})?$/, '15, 3_1, 3_[2-9] or 12+1'],
  cluster: [/^[a-z][a-z0-9_-]{0,39}$/, 'prod'],
  user: [/^(?!(?:all)$)[A-Za-z0-9_][A-Za-z0-9._@\\-]{0,127}$/i, 'alice'],
  feature: [/^[A-Za-z0-9_][A-Za-z0-9._+:-]{0,127}$/, 'h100'],
  reservation: [/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, 'maintenance_1'],
  signal: [/^(?:HUP|INT|QUIT|KILL|USR1|USR2|TERM|CONT|STOP|TSTP|[1-9]|[1-5]\d|6[0-4])$/, 'TERM, USR1 or 10'],
} as const satisfies Record<string, readonly [RegExp, string]>
export type SlurmWord = keyof typeof WORDS

/** Why the text cannot be the name of such an object; null when it can. */
export function slurmWordProblem(kind: SlurmWord, text: string): string | null {
  const [pattern, example] = WORDS[kind]
  return pattern.test(text) ? null : `must be a Slurm ${kind} such as ${example}, not ${JSON.stringify(text.slice(0, 80))}`
}

/** @throws InvalidSlurmWord */
export function checkedWord(kind: SlurmWord, text: string): string {
  const problem = slurmWordProblem(kind, text)
  if (problem) throw new InvalidSlurmWord(problem)
  return text
}

/** A list for one argument. @throws InvalidSlurmWord also when it is empty: Slurm takes an empty list for success or for everything */
export function checkedList(kind: SlurmWord, texts: readonly string[]): string {
  if (texts.length === 0) throw new InvalidSlurmWord(`needs at least one ${kind}`)
  return texts.map((text) => checkedWord(kind, text)).join(',')
}

export const MAX_REASON = 256
// Slurm prints a reason on the line of its node, where other control characters would forge output.
const CONTROL = /\p{Cc}|\u2028|\u2029/u

/** A reason as one word. @throws InvalidSlurmWord */
export function checkedReason(reason: string): string {
  if (reason.trim() === '' || reason.length > MAX_REASON || CONTROL.test(reason))
    throw new InvalidSlurmWord(`the reason must be one line of 1 to ${MAX_REASON} characters`)
  return reason
}

/**
 * The value of `reason=` for `scontrol update`. Slurm removes one quotation mark from its start and one from its end, so it gets a pair of its own. All other
 * characters are kept: 22.05 to 25.11 store `|`, `=`, backslashes and UTF-8 as they are.
 * @throws InvalidSlurmWord
 */
export const reasonArgument = (reason: string): string => `reason="${checkedReason(reason)}"`

/** @throws InvalidSlurmWord */
export function checkedCount(what: string, value: number, max: number): number {
  if (!Number.isSafeInteger(value) || value < 0 || value > max)
    throw new InvalidSlurmWord(`the ${what} must be a whole number from 0 to ${max}`)
  return value
}
