import { createECDH, createHash, createPublicKey, ECDH, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// A stand-in for a chain of the Cosmos SDK behind CometBFT, because no chain can be reached from tests. It decodes transactions with its
// own reader of protobuf, and verifies their signatures with Node's crypto: nothing of it is shared with the code that signs.

export type Field = { number: number; value: bigint | Buffer }

/** The fields of a protobuf message, in their order. */
export function readFields(bytes: Uint8Array): Field[] {
  const buffer = Buffer.from(bytes)
  const fields: Field[] = []
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < buffer.length) {
    const tag = Number(varint())
    const kind = tag & 7
    if (kind === 0) fields.push({ number: tag >> 3, value: varint() })
    else {
      const length = kind === 2 ? Number(varint()) : kind === 1 ? 8 : 4
      fields.push({ number: tag >> 3, value: buffer.subarray(at, at + length) })
      at += length
    }
  }
  return fields
}
export const bytesOf = (fields: Field[], number: number): Buffer =>
  (fields.find((field) => field.number === number)?.value as Buffer | undefined) ?? Buffer.alloc(0)
export const textOf = (fields: Field[], number: number): string => bytesOf(fields, number).toString()
export const numberOf = (fields: Field[], number: number): number =>
  Number((fields.find((field) => field.number === number)?.value as bigint | undefined) ?? 0n)

const varint = (value: bigint): Buffer => {
  const bytes = []
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 0x80n) return Buffer.from([...bytes, Number(rest)])
    bytes.push(Number(rest & 0x7fn) | 0x80)
  }
}
const blob = (number: number, value: Uint8Array | string): Buffer => {
  const bytes = Buffer.from(value as string)
  return Buffer.concat([varint(BigInt((number << 3) | 2)), varint(BigInt(bytes.length)), bytes])
}
const whole = (number: number, value: number): Buffer => Buffer.concat([varint(BigInt(number << 3)), varint(BigInt(value))])

export type ChainOptions = {
  chainId: string
  /** Called before a transaction is put into a block; a text refuses it. */
  refuse?: (count: number) => string | null
  /** Why a block has a transaction as failed. */
  fail?: () => string
  /** Called after each broadcast; true: the transaction stays out of blocks until `mine` is called. */
  hold?: (count: number) => boolean
  /** Called for each request; true: the connection ends without an answer. */
  cut?: (method: string, count: number) => boolean
}

/** Starts the stand-in on a free port. */
export async function startFakeChain({ chainId, refuse, fail, hold, cut }: ChainOptions) {
  const account = { number: 7, sequence: 3 }
  const pool = new Map<string, Buffer>()
  const included = new Map<string, { height: number; messages: Field[][]; typeUrls: string[] }>()
  let [height, broadcasts, requests] = [100, 0, 0]

  /** Checks the signature, chain, account and sequence. @returns why it is refused */
  function check(transaction: Buffer): string | null {
    const raw = readFields(transaction)
    const [body, authInfo, signature] = [bytesOf(raw, 1), bytesOf(raw, 2), bytesOf(raw, 3)]
    const signer = readFields(bytesOf(readFields(authInfo), 1))
    const sequence = numberOf(signer, 3)
    if (sequence !== account.sequence) return `account sequence mismatch, expected ${account.sequence}, got ${sequence}`
    const compressed = bytesOf(readFields(bytesOf(readFields(bytesOf(signer, 1)), 2)), 1)
    const point = ECDH.convertKey(compressed, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer
    const jwk = {
      kty: 'EC',
      crv: 'secp256k1',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    }
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const signed = Buffer.concat([blob(1, body), blob(2, authInfo), blob(3, chainId), whole(4, account.number)])
    return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature) ? null : 'signature verification failed'
  }

  /** Puts the transactions of the pool into a block. */
  function mine(): void {
    height++
    for (const [hash, transaction] of pool) {
      pool.delete(hash)
      if (check(transaction)) continue
      account.sequence++
      const messages = readFields(bytesOf(readFields(transaction), 1)).filter(({ number }) => number === 1)
      const anys = messages.map(({ value }) => readFields(value as Buffer))
      included.set(hash, {
        height,
        typeUrls: anys.map((any) => textOf(any, 1)),
        messages: anys.map((any) => readFields(bytesOf(any, 2))),
      })
    }
  }

  type Params = { path?: string; data?: string; tx?: string; hash?: string }
  const methods: Record<string, (params: Params) => object> = {
    abci_query: () => {
      const base = Buffer.concat([blob(1, 'address'), whole(3, account.number), whole(4, account.sequence)])
      const any = Buffer.concat([blob(1, '/cosmos.auth.v1beta1.BaseAccount'), blob(2, base)])
      return { result: { response: { code: 0, value: blob(1, any).toString('base64') } } }
    },
    broadcast_tx_sync: ({ tx = '' }) => {
      const transaction = Buffer.from(tx, 'base64')
      const hash = createHash('sha256').update(transaction).digest('hex').toUpperCase()
      if (pool.has(hash) || included.has(hash))
        return { error: { code: -32603, message: 'Internal error', data: 'tx already exists in cache' } }
      const problem = check(transaction) ?? refuse?.(broadcasts) ?? null
      const isHeld = hold?.(broadcasts) ?? false
      broadcasts++
      if (problem) return { result: { code: 32, log: problem, hash } }
      pool.set(hash, transaction)
      if (!isHeld) mine()
      return { result: { code: 0, log: '', hash } }
    },
    tx: ({ hash = '' }) => {
      const key = Buffer.from(hash, 'base64').toString('hex').toUpperCase()
      const found = included.get(key)
      if (!found) return { error: { code: -32603, message: 'Internal error', data: `tx (${key}) not found` } }
      return {
        result: { hash: key, height: String(found.height), tx_result: fail ? { code: 5, log: fail() } : { code: 0, log: '' } },
      }
    },
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { method, params, id } = JSON.parse(Buffer.concat(parts).toString()) as { method: string; params: Params; id: number }
      const answer = methods[method]!(params)
      if (cut?.(method, requests++)) return request.socket.destroy()
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    account,
    included,
    mine,
    broadcasts: () => broadcasts,
    stop: async () => void server.close(),
  }
}

/** A private key of the curve, in hexadecimal digits. */
export function makePrivateKey(): string {
  const ecdh = createECDH('secp256k1')
  ecdh.generateKeys()
  return ecdh.getPrivateKey('hex').padStart(64, '0')
}
