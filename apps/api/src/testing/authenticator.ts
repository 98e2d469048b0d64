import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
const base64url = (data: Buffer | string) => Buffer.from(data).toString('base64url')

/** CBOR of the few shapes that WebAuthn needs: texts, byte strings and integers from -24 to 23, each at most 255 bytes. */
const cbor = {
  head: (type: number, length: number) =>
    length < 24 ? Buffer.from([(type << 5) | length]) : Buffer.from([(type << 5) | 24, length]),
  text: (value: string) => Buffer.concat([cbor.head(3, value.length), Buffer.from(value)]),
  bytes: (value: Buffer) => Buffer.concat([cbor.head(2, value.length), value]),
  int: (value: number) => (value < 0 ? Buffer.from([0x20 | (-1 - value)]) : Buffer.from([value])),
  map: (...entries: [Buffer, Buffer][]) => Buffer.concat([cbor.head(5, entries.length), ...entries.flat()]),
}

type Ceremony = { challenge: string; options: { challenge: string } }
type Circumstances = { origin?: string; isUserVerified?: boolean; counter?: number }

/** An authenticator in software, with one passkey (ES256, attestation `none`) for the host of `origin`. */
export function createAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  const id = randomBytes(32)
  const rpIdHash = sha256(new URL(origin).hostname)
  let signatures = 0

  const clientDataOf = (type: string, { options }: Ceremony, at: string) =>
    Buffer.from(JSON.stringify({ type, challenge: options.challenge, origin: at, crossOrigin: false }))

  function authenticatorData(flags: number, counter: number, attested = Buffer.alloc(0)): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([rpIdHash, Buffer.from([flags]), count, attested])
  }
  /** User present, and verified. */
  const flagsOf = (isUserVerified: boolean) => (isUserVerified ? 0b101 : 0b001)
  const credential = (response: object) => ({
    id: base64url(id),
    rawId: base64url(id),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  })

  return {
    id: base64url(id),
    /** The answer to the options of a registration. */
    register(ceremony: Ceremony, { origin: at = origin, isUserVerified = true }: Circumstances = {}) {
      const key = cbor.map(
        [cbor.int(1), cbor.int(2)],
        [cbor.int(3), cbor.int(-7)],
        [cbor.int(-1), cbor.int(1)],
        [cbor.int(-2), cbor.bytes(Buffer.from(jwk.x!, 'base64url'))],
        [cbor.int(-3), cbor.bytes(Buffer.from(jwk.y!, 'base64url'))],
      )
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key])
      const attestation = cbor.map(
        [cbor.text('fmt'), cbor.text('none')],
        [cbor.text('attStmt'), cbor.map()],
        [cbor.text('authData'), cbor.bytes(authenticatorData(flagsOf(isUserVerified) | 0b1000000, 0, attested))],
      )
      return credential({
        clientDataJSON: base64url(clientDataOf('webauthn.create', ceremony, at)),
        attestationObject: base64url(attestation),
        transports: ['internal'],
      })
    },
    /** The answer to the options of a sign-in. */
    authenticate(ceremony: Ceremony, { origin: at = origin, isUserVerified = true, counter }: Circumstances = {}) {
      const data = authenticatorData(flagsOf(isUserVerified), counter ?? ++signatures)
      const clientData = clientDataOf('webauthn.get', ceremony, at)
      const signature = createSign('sha256').update(data).update(sha256(clientData)).sign(privateKey)
      return credential({
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(data),
        signature: base64url(signature),
      })
    },
  }
}
