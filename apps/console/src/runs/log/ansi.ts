import { type Span, splitSpans } from './ansi-spans.ts'

const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g
const controls = /[\x00-\x08\x0b-\x1f\x7f]/g
/** Longer lines are displayed up to this length; copying includes all of it. */
export const maxDisplayLength = 8000

/** Strips color codes and other control characters from a line. */
export function plain(line: string): string {
  return (line.includes('\x1b') ? line.replace(sequences, '') : line).replace(controls, '')
}

/** The display width of a line in columns; a tab counts as eight, a wide (CJK) character as two. */
export function visibleLength(line: string): number {
  const text = line.includes('\x1b') ? line.replace(sequences, '') : line
  let length = text.length
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 9) length += 7
    else if (
      code >= 0x1100 &&
      (code <= 0x115f ||
        (code >= 0x2e80 && code <= 0xa4cf) ||
        (code >= 0xac00 && code <= 0xd7a3) ||
        (code >= 0xf900 && code <= 0xfaff) ||
        (code >= 0xff00 && code <= 0xff60))
    )
      length++
  }
  return Math.min(length, maxDisplayLength)
}

const colorCode = /^\x1b\[[\d;]*m$/

/** The displayed spans of a line: colors as styles, other control sequences removed, terminal hyperlinks as text. */
export function spansOf(line: string): Span[] {
  const shown = line.length > maxDisplayLength ? `${line.slice(0, maxDisplayLength)}…` : line
  if (!shown.includes('\x1b')) return [{ text: shown.replace(controls, ''), className: '' }]
  const colored = shown.replace(sequences, (sequence) => (colorCode.test(sequence) ? sequence : ''))
  return splitSpans(colored).map((span) => ({ ...span, text: span.text.replace(controls, '') }))
}
