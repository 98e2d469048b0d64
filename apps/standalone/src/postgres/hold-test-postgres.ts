import { startTestPostgres } from './test-postgres.ts'

// Starts a temporary Postgres, prints {"url": …} as one JSON line, and stops it when stdin closes or a signal arrives.
const server = await startTestPostgres()
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
const stop = async () => {
  await server.stop()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop)
process.stdin.once('end', stop).once('error', stop).resume()
