const LEVELS = { debug: 7, info: 6, warn: 4, error: 3 } as const
export type Level = keyof typeof LEVELS
export const levels = Object.keys(LEVELS) as Level[]

export type Log = Record<Level, (message: string) => void>

/** Lines on stderr; under systemd each with its priority, which the journal takes off again. */
export function logger(least: Level): Log {
  const write = (level: Level) => (message: string) => {
    if (LEVELS[level] > LEVELS[least]) return
    const head = process.env.JOURNAL_STREAM ? `<${LEVELS[level]}>` : `${new Date().toISOString()} ${level} `
    process.stderr.write(`${head}${message.replaceAll('\n', ' ')}\n`)
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
