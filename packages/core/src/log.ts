import { pino } from 'pino'

export type Log = pino.Logger

/** Structured log of one process, JSON lines on stdout. Known secret names are cut out wherever they stand in an object. */
export function createLog(process: string, level: string): Log {
  const secret = ['password', 'passphrase', 'privateKey', 'token', 'secret', 'authorization', 'cookie', 'masterPassword']
  return pino({
    level,
    base: { process },
    formatters: { level: (label) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secret.flatMap((s) => [s, `*.${s}`, `*.*.${s}`]), censor: '[secret]' },
  })
}
