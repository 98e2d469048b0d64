// What an agent needs at run time: neither zod nor libsodium, which would cost it memory and start time.
export { encodeHeartbeat, envelope, goTime } from './encode.ts'
export { type Identity, newIdentity, readKeyFile, writeKeyFile } from './key-file.ts'
export { proofBytes, prove } from './proof.ts'
export { fromBase64, type PublicKey, publicKey, RefusedKey } from './public-key.ts'
export { type Auth, sign } from './sign.ts'
export { BODY_LIMIT, heartbeatSlice, MalformedBody, readBody } from './slice.ts'
