import { readFileSync } from 'node:fs'

/** A fenced block of a guide: ```LANGUAGE REST. */
export type Block = { language: string; rest: string; text: string; line: number }

/** Why a block is not run, which stands in its info string: ```sh not-run: needs a Vault. */
export const whyNotRun = (block: Block): string | null => /^not-run: (.+)/.exec(block.rest)?.[1] ?? null

/** The fenced blocks of a Markdown file in order, and its text without them. */
export function readGuide(path: string): { blocks: Block[]; prose: string } {
  const blocks: Block[] = []
  const prose: string[] = []
  let open: Block | null = null
  for (const [i, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const [, language = '', rest = ''] = /^```(\w*) ?(.*)$/.exec(line) ?? []
    if (open && line === '```') {
      blocks.push(open)
      open = null
    } else if (open) open.text += `${line}\n`
    else if (line.startsWith('```')) open = { language, rest, text: '', line: i + 1 }
    else prose.push(line)
  }
  if (open) throw new Error(`${path}:${open.line}: a block that does not end`)
  return { blocks, prose: prose.join('\n') }
}

/** What stands in backticks in the text of a guide. */
export const codeSpans = (prose: string): string[] => [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!)

/** The commands of `muster` in a shell text, without comments and what they are piped into. */
export function musterCommands(text: string): string[][] {
  const lines = text.replaceAll('\\\n', ' ').split('\n')
  return lines.flatMap((line) => {
    const [, command] = /^(?:\w+=\$\()?muster ((?:'[^']*'|"[^"]*"|[^#|<>;)'"])*)/.exec(line) ?? []
    return command === undefined ? [] : [(command.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) => word)]
  })
}

/** Text of a guide as a pattern: … is whatever stands there, and how columns are filled up does not count. */
export function asPattern(expected: string): RegExp {
  const literal = squeeze(expected)
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${literal.join('[\\s\\S]*')}$`)
}
export const squeeze = (text: string): string =>
  text
    .replace(/[ \t]+/g, ' ')
    .replace(/ $/gm, '')
    .trim()

/** `answer` with everything that `expected` does not name left out, and "…" where that says so: equal when the guide is right. */
export function asExpected(expected: unknown, answer: unknown): unknown {
  if (expected === '…') return answer === undefined ? undefined : '…'
  if (Array.isArray(expected) && Array.isArray(answer)) return answer.map((one, i) => asExpected(expected[i], one))
  if (!isObject(expected) || !isObject(answer)) return answer
  return Object.fromEntries(Object.keys(expected).map((key) => [key, asExpected(expected[key], answer[key])]))
}

/** Every id in an answer of the API, by what guides call it: `ComputeNode` and, when it has a name, `ComputeNode_gpu01`. */
export function* idsOf(value: unknown): Generator<[name: string, id: string]> {
  if (Array.isArray(value)) for (const one of value) yield* idsOf(one)
  if (!isObject(value)) return
  if (typeof value.id === 'string') {
    const [type = ''] = Buffer.from(value.id, 'base64').toString().split(':')
    yield [type, value.id]
    if (typeof value.name === 'string') yield [`${type}_${value.name}`, value.id]
  }
  for (const one of Object.values(value)) yield* idsOf(one)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
