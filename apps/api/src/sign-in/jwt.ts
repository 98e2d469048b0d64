import { hkdfSync } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'

/** The key that signs the JWTs of API tokens. It is derived, so that it signs nothing else. */
export const deriveJwtKey = (authSecret: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', authSecret, 'muster', 'api token jwt 1', 32))

/** The JWT of an API token, for tools that send nothing else. It is as secret as the token, and expires with it. */
export const createJwt = (key: Uint8Array, { id, expiresAt }: { id: string; expiresAt: Date }): Promise<string> =>
  new SignJWT().setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).setJti(id).setIssuedAt().setExpirationTime(expiresAt).sign(key)

/** The ID of the API token of a JWT; null when it is not one of this installation, or has expired. */
export async function readJwt(key: Uint8Array, jwt: string): Promise<string | null> {
  try {
    const { payload } = await jwtVerify(jwt, key, { algorithms: ['HS256'], requiredClaims: ['jti', 'exp'] })
    return payload.jti!
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}
