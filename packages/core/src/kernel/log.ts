import { DrizzleQueryError } from 'drizzle-orm'
import { type DestinationStream, pino } from 'pino'

export type Log = pino.Logger

/** `error` and its causes, outermost first. */
function chainOf(error: Error): Error[] {
  const chain: Error[] = []
  for (let e: unknown = error; e instanceof Error && !chain.includes(e); e = e.cause) chain.push(e)
  return chain
}

/** Removes the bound values from the end of the message of a failed query. */
const withoutValues = (text: string) => text.replace(/(Failed query: .*?)\nparams: .*/s, '$1')

/** Message of an error for the operator who starts a process. For a failed query it is the driver's message, without SQL. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const failed = chainOf(error).findLast((e) => e instanceof DrizzleQueryError)
  if (!failed) return error.message
  const { cause } = failed
  return `Database error: ${cause instanceof Error && cause.message ? cause.message : 'no reason was given'}`
}

/**
 * An error for the log. A failed query contains its bound values, for example session tokens, in its message, stack and a field;
 * errors that copy its message do too, and the driver's detail quotes rows. Logs only type, message with the statement, stack and code.
 */
function loggable(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const chain = chainOf(error)
  const failed = chain.filter((e) => e instanceof DrizzleQueryError)
  const clean = (text: string) => failed.reduce((t, e) => t.replaceAll(e.message, `Failed query: ${e.query}`), text)
  const [first, ...causes] = chain.map((e) => ({
    type: e.name,
    message: clean(e.message),
    stack: clean(e.stack ?? ''),
    ...('code' in e ? { code: e.code } : {}),
  }))
  return causes.length > 0 ? { ...first, causes } : first
}

/** Structured log of one process: JSON lines on stdout, without secret fields and without bound values of failed queries. */
export function createLog(process: string, level: string, destination?: DestinationStream): Log {
  const secret = ['password', 'passphrase', 'privateKey', 'token', 'secret', 'authorization', 'cookie', 'masterPassword']
  const options: pino.LoggerOptions = {
    level,
    base: { process },
    formatters: { level: (label) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: loggable, error: loggable },
    hooks: {
      // Without its own message, a line would take the error's unmasked message; libraries pass it as their message.
      logMethod([what, text, ...more], method) {
        const error = what instanceof Error ? what : (what as { err?: unknown })?.err
        const parts = [what, text ?? (error instanceof Error ? error.name : text), ...more]
        method.apply(this, parts.map((part) => (typeof part === 'string' ? withoutValues(part) : part)) as never)
      },
    },
    redact: { paths: secret.flatMap((s) => [s, `*.${s}`, `*.*.${s}`]), censor: '[secret]' },
  }
  return destination ? pino(options, destination) : pino(options)
}
