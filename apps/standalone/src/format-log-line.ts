const LEVELS: Record<string, number> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 }

/**
 * Formats one log line for the terminal: warnings and errors in short form, undefined for everything else.
 * @param line one JSON line of pino (level as a name or number), or any other text
 */
export function formatLogLine(process: string, line: string): string | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const entry = JSON.parse(line) as { level?: string | number; msg?: string; err?: { message?: string } }
    const level = typeof entry.level === 'string' ? (LEVELS[entry.level] ?? 0) : (entry.level ?? 0)
    if (level < 40) return undefined
    const text = [entry.msg, entry.err?.message].filter((part, i, all) => part && all.indexOf(part) === i).join(': ')
    return `${process.padEnd(8)} ${level >= 50 ? 'error' : 'warning'}: ${text || line.slice(0, 300)}`
  } catch {
    return undefined
  }
}
