// Runtime subset for agents: without zod and libsodium, which cost memory and start time.

export { BODY_LIMIT, extractHeartbeat, MalformedBodyError, parseBody } from './body.ts'
export { encodeHeartbeat, envelope, formatGoTime } from './encode.ts'
export { type Identity, newIdentity, readKeyFile, writeKeyFile } from './key-file.ts'
export { createProof, encodeProof } from './proof.ts'
export { fromBase64, InvalidKeyError, type PublicKey, publicKey } from './public-key.ts'
export { type Auth, sign } from './sign.ts'
