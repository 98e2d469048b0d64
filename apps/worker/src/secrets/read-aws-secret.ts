import type { OpenStore } from '@muster/core/credentials'
import { AwsClient } from 'aws4fetch'
import { conflict, requestStore, type StoreLimits, unexpectedStatus } from './store-request.ts'

/** Response of GetSecretValue: the secret, or `__type` of the error, for example `…#ResourceNotFoundException`. */
type AwsBody = { SecretString?: unknown; SecretBinary?: unknown; __type?: unknown }

/** The key of a secret that is not a JSON object. */
const WHOLE = 'SecretString'

/**
 * Reads from AWS Secrets Manager (GetSecretValue, version stage AWSCURRENT) with an access key.
 * @param path name or ARN of the secret
 * @returns the keys of a JSON object; any other text under the key `SecretString`
 */
export async function readAwsSecret(store: OpenStore, path: string, limits: StoreLimits): Promise<Record<string, unknown>> {
  const aws = new AwsClient({
    accessKeyId: store.accessKeyId ?? '',
    secretAccessKey: store.secret,
    region: store.region ?? '',
    service: 'secretsmanager',
  })
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'secretsmanager.GetSecretValue' },
    body: JSON.stringify({ SecretId: path }),
  }
  const url = new URL('/', store.address)
  const { headers } = await aws.sign(url.href, request)
  const { status, body } = await requestStore<AwsBody>(store, { ...request, url, headers: Object.fromEntries(headers) }, limits)
  if (status === 200 && typeof body?.SecretString === 'string') return keysOf(body.SecretString)
  if (status === 200 && body?.SecretBinary !== undefined)
    throw conflict(store, `has a binary value at ${path}; store text or a JSON object there`)
  const error = typeof body?.__type === 'string' ? body.__type.split('#').at(-1) : undefined
  if (error === 'ResourceNotFoundException')
    throw conflict(store, `has no secret at ${path} in ${store.region}; store it there, or correct the path or the region`)
  if (error === 'AccessDeniedException')
    throw conflict(
      store,
      `does not allow Muster to read ${path}; check that the policy allows secretsmanager:GetSecretValue on it`,
    )
  if (error === 'DecryptionFailure')
    throw conflict(store, `cannot decrypt ${path}; check that the policy allows kms:Decrypt on its key`)
  if (error && REJECTED_LOGINS.includes(error))
    throw conflict(
      store,
      `rejects the access key ${store.accessKeyId}; check that it is active and save its secret access key again`,
    )
  if (error === 'InvalidRequestException')
    throw conflict(
      store,
      `cannot return ${path}, which is probably scheduled for deletion; restore it there, or correct the path`,
    )
  throw unexpectedStatus(store, status, 'an endpoint of AWS Secrets Manager')
}

const REJECTED_LOGINS = [
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'IncompleteSignatureException',
  'ExpiredTokenException',
]

function keysOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // A plain text, such as a private key.
  }
  return { [WHOLE]: text }
}
