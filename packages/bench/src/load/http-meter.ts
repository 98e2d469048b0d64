import autocannon from 'autocannon'
import { cpuSeconds } from '../cpu.ts'

const CONNECTIONS = 8

/** A request, and the process that answers it. */
export type Target = { url: string; method: 'GET' | 'POST'; headers?: Record<string, string>; body?: string; pid: number }
/** `cpuMs`: of server process and Postgres for each of the `answered` requests. */
export type Measured = { answered: number; rate: number; serverMs: number; postgresMs: number; cpuMs: number }

/** Loads a target for some seconds and returns the cost of each request. @throws Error when a response is not a success */
export const createMeter =
  (postgresSeconds: () => number, duration = 2) =>
  async (target: Target): Promise<Measured> => {
    const before = { server: cpuSeconds([target.pid]), postgres: postgresSeconds() }
    const { pid, ...options } = target
    const result = await autocannon({ ...options, connections: CONNECTIONS, duration })
    const failed = result.non2xx + result.errors + result.timeouts
    const answered = result['2xx']
    if (failed > 0 || answered === 0) throw new Error(`${target.url}: ${answered} requests succeeded, ${failed} failed`)
    const serverMs = ((cpuSeconds([pid]) - before.server) * 1000) / answered
    const postgresMs = ((postgresSeconds() - before.postgres) * 1000) / answered
    return { answered, rate: answered / result.duration, serverMs, postgresMs, cpuMs: serverMs + postgresMs }
  }

/** @throws Error with the messages of a response with errors */
export async function dataOf<T>(target: Target): Promise<T> {
  const response = await fetch(target.url, {
    method: target.method,
    ...(target.headers ? { headers: target.headers } : {}),
    ...(target.body ? { body: target.body } : {}),
  })
  const { data, errors } = (await response.json()) as { data: T; errors?: { message: string }[] }
  if (errors) throw new Error(`${target.url}: ${errors.map(({ message }) => message).join('; ')}`)
  return data
}
