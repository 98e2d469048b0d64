/** Output of one tool call, or one section of host facts. */
export interface Frame {
  name: string
  body: string
  /** Exit code; null when the call did not finish. */
  code: number | null
  durationMs: number | null
  timedOut: boolean
  /** Truncated at the size limit or by the end of the output. */
  cut: boolean
  /** Not called, because the time or size limit was reached. */
  skipped: boolean
}

export interface Frames {
  frames: Frame[]
  /** The last line of the probe is present. */
  complete: boolean
  durationMs: number | null
}

/** Maximum output to parse. */
const OUTPUT_LIMIT = 4 * 1024 * 1024

/** Decodes raw output; invalid UTF-8 is replaced. */
export const rawText = (raw: Uint8Array | string): string =>
  typeof raw === 'string' ? raw.slice(0, OUTPUT_LIMIT) : new TextDecoder('utf-8').decode(raw.subarray(0, OUTPUT_LIMIT))

/**
 * Parses the frames of a probe. Output before the first line, such as a message of the day, is ignored. Only lines that begin with the
 * nonce of the first line are boundaries, so tools cannot forge them.
 */
export function readFrames(raw: Uint8Array | string): Frames {
  const text = rawText(raw)
  const start = /^muster-probe\/1 ([\w-]{16,64})\r?$/m.exec(text)
  if (!start) return { frames: [], complete: false, durationMs: null }
  const nonce = start[1] ?? ''
  const frames: Frame[] = []
  let open: { name: string; lines: string[] } | null = null
  let complete = false
  let durationMs: number | null = null
  for (const line of text.slice(start.index + start[0].length + 1).split('\n')) {
    if (!line.startsWith(`${nonce} `)) {
      open?.lines.push(line)
      continue
    }
    const [, kind = '', rest = ''] = /^\S+ (\S+) ?(.*?)\r?$/.exec(line) ?? []
    if (open) frames.push(closeFrame(open, kind === '-' ? rest : 'cut=1'))
    open = kind === '+' ? { name: rest, lines: [] } : null
    if (kind === 'end') {
      complete = true
      durationMs = parseAttribute(rest, 'ms')
      break
    }
  }
  if (open) frames.push(closeFrame(open, 'cut=1'))
  return { frames, complete, durationMs }
}

const parseAttribute = (text: string, name: string): number | null => {
  const value = new RegExp(`(?:^| )${name}=(\\d{1,9})\\b`).exec(text)?.[1]
  return value === undefined ? null : Number(value)
}

/** The last line of a tool frame is `:EXITCODE`. It is missing when the call was killed or truncated. */
function closeFrame(open: { name: string; lines: string[] }, attributes: string): Frame {
  const last = /^:(\d{1,3})$/.exec(open.lines.at(-1) ?? '')
  const isCall = open.name.startsWith('tool ')
  return {
    name: open.name,
    body: (isCall && last ? open.lines.slice(0, -1) : open.lines).join('\n'),
    code: isCall && last ? Number(last[1]) : null,
    durationMs: parseAttribute(attributes, 'ms'),
    timedOut: parseAttribute(attributes, 'timeout') === 1,
    cut: parseAttribute(attributes, 'cut') === 1,
    skipped: parseAttribute(attributes, 'skipped') === 1,
  }
}
