import { startTestPostgres } from './test-postgres.ts'

// A throw-away Postgres for whoever starts this: one JSON line {"url": …} on stdout, then it serves until stdin closes or a signal comes.
const server = await startTestPostgres()
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
const stop = async () => {
  await server.stop()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop)
process.stdin.once('end', stop).once('error', stop).resume()
