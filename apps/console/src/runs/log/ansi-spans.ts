/** A part of a line with one style. `color` and `background` are CSS colors outside the 16 basic ones, which are classes. */
export type Span = { text: string; className: string; color?: string; background?: string }

type Color = { className?: string; css?: string }
type State = { bold: boolean; faint: boolean; italic: boolean; underline: boolean; fg?: Color; bg?: Color }

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const DEFAULT: State = { bold: false, faint: false, italic: false, underline: false }
const SGR = /\x1b\[([\d;]*)m/
const DECORATIONS = { bold: 'font-bold', faint: 'opacity-70', italic: 'italic', underline: 'underline' } as const

/**
 * Splits a line into spans by its color codes (SGR); other control sequences are already removed. Unknown codes have no effect.
 * No library: ansi_up returns HTML, and anser knows no colors of the palette.
 */
export function splitSpans(line: string): Span[] {
  const [first = '', ...rest] = line.split(SGR)
  const spans: Span[] = first ? [{ text: first, className: '' }] : []
  let state = DEFAULT
  // The pattern has one group, so codes and texts alternate.
  for (let index = 0; index < rest.length; index += 2) {
    state = applyCodes(state, rest[index]!.split(';').map(Number))
    const text = rest[index + 1]
    if (text) spans.push({ text, ...styleOf(state) })
  }
  return spans
}

function applyCodes(before: State, codes: number[]): State {
  let state = { ...before }
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index]!
    if (code === 0) state = { ...DEFAULT }
    else if (code === 1) state.bold = true
    else if (code === 2) state.faint = true
    else if (code === 3) state.italic = true
    else if (code === 4) state.underline = true
    else if (code === 21 || code === 22) state.bold = state.faint = false
    else if (code === 23) state.italic = false
    else if (code === 24) state.underline = false
    else if (code === 39) delete state.fg
    else if (code === 49) delete state.bg
    else if (code >= 30 && code <= 37) state.fg = basic(code - 30)
    else if (code >= 40 && code <= 47) state.bg = basic(code - 40)
    else if (code >= 90 && code <= 97) state.fg = basic(code - 82)
    else if (code >= 100 && code <= 107) state.bg = basic(code - 92)
    else if (code === 38 || code === 48) {
      const length = codes[index + 1] === 5 ? 2 : codes[index + 1] === 2 ? 4 : 0
      const color = extended(codes.slice(index + 1, index + 1 + length))
      if (color && code === 38) state.fg = color
      if (color && code === 48) state.bg = color
      index += length
    }
  }
  return state
}

/** Color 0 to 15. */
const basic = (number: number): Color => ({ className: `ansi-${number > 7 ? 'bright-' : ''}${NAMES[number % 8]}` })

/** A color of the palette (`5;N`) or of red, green and blue (`2;R;G;B`). */
function extended([kind, ...values]: number[]): Color | undefined {
  if (values.some((value) => !(value >= 0 && value <= 255))) return undefined
  if (kind === 2 && values.length === 3) return { css: `rgb(${values.join(' ')})` }
  const [number] = values
  if (kind !== 5 || number === undefined) return undefined
  if (number < 16) return basic(number)
  if (number >= 232)
    return {
      css: `rgb(${Array(3)
        .fill((number - 232) * 10 + 8)
        .join(' ')})`,
    }
  // A cube of six levels per channel.
  const level = (index: number) => (index === 0 ? 0 : index * 40 + 55)
  const cube = number - 16
  return { css: `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level).join(' ')})` }
}

function styleOf({ fg, bg, ...decorations }: State): Omit<Span, 'text'> {
  const names: string[] = Object.entries(DECORATIONS).flatMap(([name, className]) =>
    decorations[name as keyof typeof DECORATIONS] ? [className] : [],
  )
  if (fg?.className) names.push(`${fg.className}-fg`)
  if (bg?.className) names.push(`${bg.className}-bg`)
  return {
    className: names.join(' '),
    ...(fg?.css ? { color: fg.css } : {}),
    ...(bg?.css ? { background: bg.css } : {}),
  }
}
