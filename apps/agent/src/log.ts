const LEVELS = { debug: 7, info: 6, warn: 4, error: 3 } as const
export type Level = keyof typeof LEVELS
export const levels = Object.keys(LEVELS) as Level[]

export type Log = Record<Level, (message: string) => void>

/** Logs lines to stderr, with a timestamp or, under systemd, with the priority prefix of the journal. */
export function createLogger(minLevel: Level): Log {
  const write = (level: Level) => (message: string) => {
    if (LEVELS[level] > LEVELS[minLevel]) return
    const prefix = process.env.JOURNAL_STREAM ? `<${LEVELS[level]}>` : `${new Date().toISOString()} ${level} `
    process.stderr.write(`${prefix}${message.replaceAll('\n', ' ')}\n`)
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
