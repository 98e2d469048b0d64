import { readFileSync } from 'node:fs'

/** A fenced block of a guide: ```LANGUAGE REST. */
export type Block = { language: string; rest: string; text: string; line: number }

/** The reason why a block is not run, from its info string: ```sh not-run: needs a Vault. */
export const runBlockedReason = (block: Block): string | null => /^not-run: (.+)/.exec(block.rest)?.[1] ?? null

/** The fenced blocks of a Markdown file, and the text outside of them. */
export function readGuide(path: string): { blocks: Block[]; text: string } {
  const blocks: Block[] = []
  const text: string[] = []
  let open: Block | null = null
  for (const [i, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const [, language = '', rest = ''] = /^```(\w*) ?(.*)$/.exec(line) ?? []
    if (open && line === '```') {
      blocks.push(open)
      open = null
    } else if (open) open.text += `${line}\n`
    else if (line.startsWith('```')) open = { language, rest, text: '', line: i + 1 }
    else text.push(line)
  }
  if (open) throw new Error(`${path}:${open.line}: unclosed block`)
  return { blocks, text: text.join('\n') }
}

/** Code spans in the text of a guide. */
export const codeSpans = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!)

/** The `muster` commands of a shell script, without comments, pipes and redirects. */
export function musterCommands(text: string): string[][] {
  const lines = text.replaceAll('\\\n', ' ').split('\n')
  return lines.flatMap((line) => {
    const [, command] = /^(?:\w+=\$\()?muster ((?:'[^']*'|"[^"]*"|[^#|<>;)'"])*)/.exec(line) ?? []
    return command === undefined ? [] : [(command.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) => word)]
  })
}

/** Expected output as a pattern: … matches anything; runs of spaces are equal to one. */
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

/** Reduces a response to the fields of `expected`, with "…" where that has it. Equal to `expected` when the guide is right. */
export function asExpected(expected: unknown, actual: unknown): unknown {
  if (expected === '…') return actual === undefined ? undefined : '…'
  if (Array.isArray(expected) && Array.isArray(actual)) return actual.map((one, i) => asExpected(expected[i], one))
  if (!isObject(expected) || !isObject(actual)) return actual
  return Object.fromEntries(Object.keys(expected).map((key) => [key, asExpected(expected[key], actual[key])]))
}

/** All IDs in a response, by their names in guides: `ComputeNode` and, for a named object, `ComputeNode_gpu01`. */
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
