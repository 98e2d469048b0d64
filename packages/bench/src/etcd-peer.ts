import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pickPort } from '@muster/standalone'
import { cpuSeconds } from './cpu.ts'

const LEASE_S = 300

export type Puts = { perCpu: number; p99: number }

/** Starts Debian's etcd (`npm run bench` installs it) with a temporary data directory and fsync. The few gRPC messages are encoded here. */
export async function startEtcd() {
  const dir = mkdtempSync(join(tmpdir(), 'mu-etcd-'))
  const [client, peer] = [`http://127.0.0.1:${await pickPort()}`, `http://127.0.0.1:${await pickPort()}`]
  const args = ['--data-dir', dir, '--listen-client-urls', client, '--advertise-client-urls', client, '--listen-peer-urls', peer]
  const cluster = [
    '--initial-advertise-peer-urls',
    peer,
    '--initial-cluster',
    `default=${peer}`,
    '--quota-backend-bytes',
    '4000000000',
  ]
  const child = spawn('etcd', [...args, ...cluster], { stdio: 'ignore' })
  const stop = async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    rmSync(dir, { recursive: true, force: true })
  }
  const healthy = () =>
    fetch(`${client}/health`).then(
      (answer) => answer.ok,
      () => false,
    )
  for (let tries = 0; !(await healthy()); tries++) {
    if (tries > 300 || child.exitCode !== null) {
      await stop()
      throw new Error('etcd did not start')
    }
    await sleep(100)
  }
  return {
    stop,
    /** Puts `count` values of `bytes` bytes under a lease; each connection has one request in flight. */
    async put({ count, connections, bytes }: { count: number; connections: number; bytes: number }): Promise<Puts> {
      const session = connect(client)
      const lease = varintAt(await call(session, 'Lease/LeaseGrant', varintField(1, LEASE_S)), 2)
      const value = Buffer.alloc(bytes, 'x')
      const times: number[] = []
      let next = 0
      const before = cpuSeconds([child.pid!])
      await Promise.all(
        Array.from({ length: connections }, async () => {
          while (next < count) {
            const key = Buffer.from(`agent-${next++}`)
            const began = performance.now()
            await call(session, 'KV/Put', Buffer.concat([bytesField(1, key), bytesField(2, value), varintField(3, lease)]))
            times.push(performance.now() - began)
          }
        }),
      )
      const cpu = cpuSeconds([child.pid!]) - before
      session.close()
      times.sort((a, b) => a - b)
      return { perCpu: count / cpu, p99: times[Math.floor(times.length * 0.99)]! }
    },
  }
}

async function call(session: ClientHttp2Session, method: string, message: Buffer): Promise<Buffer> {
  const stream = session.request({
    ':method': 'POST',
    ':path': `/etcdserverpb.${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  stream.end(Buffer.concat([head, message]))
  const chunks: Buffer[] = []
  let status: unknown
  stream.on('trailers', (trailers) => (status = trailers['grpc-status']))
  stream.on('data', (chunk) => chunks.push(chunk))
  await once(stream, 'end')
  if (status !== '0') throw new Error(`etcd answered ${method} with gRPC status ${status}`)
  return Buffer.concat(chunks).subarray(5)
}

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}
const varintField = (field: number, value: number | bigint) => Buffer.concat([Buffer.from([field << 3]), varint(BigInt(value))])
const bytesField = (field: number, value: Buffer) =>
  Buffer.concat([Buffer.from([(field << 3) | 2]), varint(BigInt(value.length)), value])

/** The number in `field` of a message with varint and length-delimited fields only. */
function varintAt(message: Buffer, field: number): bigint {
  let at = 0
  const read = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = Number(read())
    const value = read()
    if (tag >> 3 === field && (tag & 7) === 0) return value
    if ((tag & 7) === 2) at += Number(value)
  }
  throw new Error(`the response of etcd has no field ${field}`)
}
