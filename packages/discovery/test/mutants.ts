import fc from 'fast-check'

type Mutation = (text: string) => string

const at = (text: string, share: number) => Math.floor(text.length * share)
const lineAt = (text: string, share: number, change: (line: string) => string[]) => {
  const lines = text.split('\n')
  const index = Math.min(lines.length - 1, Math.floor(lines.length * share))
  return lines.flatMap((line, i) => (i === index ? change(line) : [line])).join('\n')
}

/** Mutations of real output: truncated, noisy, ragged, repeated, empty. */
const mutation: fc.Arbitrary<Mutation> = fc.double({ min: 0, max: 1, noNaN: true }).chain((share) =>
  fc.oneof(
    fc.constant<Mutation>((text) => text.slice(0, at(text, share))),
    fc.constant<Mutation>((text) => text.slice(at(text, share))),
    fc.constant<Mutation>((text) => text.replaceAll('\n', '\r\n')),
    fc.constant<Mutation>((text) => lineAt(text, share, (line) => [`\u001b[4m${line}\u001b[0m`])),
    fc.constant<Mutation>((text) => `DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\n[WARN] {x}\n${text}`),
    fc.constant<Mutation>((text) => lineAt(text, share, () => [])),
    fc.constant<Mutation>((text) => lineAt(text, share, (line) => [line, line])),
    fc.constant<Mutation>((text) => lineAt(text, share, (line) => [line.slice(0, line.length / 2)])),
    fc.constant<Mutation>((text) => lineAt(text, share, (line) => [`${line}, surprise | surprise`])),
    fc.constant<Mutation>((text) => text.replace(/\d+/g, '[N/A]')),
    fc.constant<Mutation>((text) => text.replace(/: *("[^"]*"|\d+)/g, ': "N/A"')),
    fc.constant<Mutation>((text) => text.repeat(3)),
    fc
      .string({ maxLength: 20, unit: 'binary' })
      .map<Mutation>((junk) => (text) => text.slice(0, at(text, share)) + junk + text.slice(at(text, share))),
    fc.constant<Mutation>((text) => text.slice(0, at(text, share)) + '{[<"|'.repeat(50) + text.slice(at(text, share))),
  ),
)

/** One of the texts with one to four mutations. */
export const mutantsOf = (texts: string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...texts), fc.array(mutation, { minLength: 1, maxLength: 4 }))
    .map(([text, changes]) => changes.reduce((mutated, change) => change(mutated).slice(0, 400_000), text))
