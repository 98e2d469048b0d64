/** One call of a vendor's tool, or one part of the host's facts, as the probe wrote it. */
export interface Frame {
  name: string
  body: string
  /** Exit code; null when the call did not come to its end. */
  code: number | null
  durationMs: number | null
  timedOut: boolean
  /** Cut at the limit of bytes, or by the end of the whole output. */
  cut: boolean
  /** Not called: the tool's clock or bytes were used up. */
  skipped: boolean
}

export interface Frames {
  frames: Frame[]
  /** The probe's own last line was there. */
  complete: boolean
  durationMs: number | null
}

/** No output of the probe is longer; what follows is not read. */
const LIMIT = 2 * 1024 * 1024

/** Raw output as text, byte for byte where it is not UTF-8. */
export const rawText = (raw: Uint8Array | string): string =>
  typeof raw === 'string' ? raw.slice(0, LIMIT) : new TextDecoder('utf-8').decode(raw.subarray(0, LIMIT))

/**
 * Reads the probe's frames. Anything before its first line (a message of the day, a profile that echoes) is passed over. Only a
 * line that begins with the nonce of the first line is a boundary, so nothing that a tool prints can be one.
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
    if (open) frames.push(close(open, kind === '-' ? rest : 'cut=1'))
    open = kind === '+' ? { name: rest, lines: [] } : null
    if (kind === 'end') {
      complete = true
      durationMs = setting(rest, 'ms')
      break
    }
  }
  if (open) frames.push(close(open, 'cut=1'))
  return { frames, complete, durationMs }
}

const setting = (text: string, name: string): number | null => {
  const value = new RegExp(`(?:^| )${name}=(\\d{1,9})\\b`).exec(text)?.[1]
  return value === undefined ? null : Number(value)
}

/** The last line of a tool's frame is `:EXITCODE`; it is missing when the call was ended by force or cut. */
function close(open: { name: string; lines: string[] }, attributes: string): Frame {
  const last = /^:(\d{1,3})$/.exec(open.lines.at(-1) ?? '')
  const isCall = open.name.startsWith('tool ')
  return {
    name: open.name,
    body: (isCall && last ? open.lines.slice(0, -1) : open.lines).join('\n'),
    code: isCall && last ? Number(last[1]) : null,
    durationMs: setting(attributes, 'ms'),
    timedOut: setting(attributes, 'timeout') === 1,
    cut: setting(attributes, 'cut') === 1,
    skipped: setting(attributes, 'skipped') === 1,
  }
}
