import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { certificateProblem } from '../kernel/outbound/index.ts'
import type { ArtifactStore, StoreConfig } from './store.ts'

const CONNECT_MS = 5000
/** Timeout without any data to or from the store. */
const IDLE_MS = 30_000
/** Maximum number of objects per delete request. */
const AT_ONCE = 1000

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

type S3Config = StoreConfig & { NODE_ARTIFACTS_BUCKET: string }

/** An S3-compatible store. Loads the SDK on first use, because it is large. */
export function s3Store(config: S3Config): ArtifactStore {
  const { NODE_ARTIFACTS_BUCKET: Bucket } = config
  let connection: ReturnType<typeof connect> | undefined
  const use = () => (connection ??= connect(config))
  const keyed = (key: string) => ({ Bucket, Key: `${config.S3_PREFIX}${key}` })
  return {
    name: 's3',
    async put(key, file, size) {
      const { client, sdk } = await use()
      const Body = createReadStream(file)
      try {
        await client.send(new sdk.PutObjectCommand({ ...keyed(key), Body, ContentLength: size }))
      } catch (error) {
        throw describeError(error, config)
      } finally {
        Body.destroy()
      }
    },
    async open(key) {
      const { client, sdk } = await use()
      try {
        return (await client.send(new sdk.GetObjectCommand(keyed(key)))).Body as Readable
      } catch (error) {
        throw describeError(error, config)
      }
    },
    async remove(keys) {
      const { client, sdk } = await use()
      for (let i = 0; i < keys.length; i += AT_ONCE) {
        const Objects = keys.slice(i, i + AT_ONCE).map((key) => ({ Key: keyed(key).Key }))
        const { Errors } = await client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }))
        if (Errors?.length) throw new Error(`Deleting objects from the bucket ${Bucket} failed: ${Errors[0]!.Code}.`)
      }
    },
    async link(key, { fileName, seconds }) {
      const { client, sdk } = await use()
      const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
      const ResponseContentDisposition = attachment(fileName)
      return getSignedUrl(client, new sdk.GetObjectCommand({ ...keyed(key), ResponseContentDisposition }), { expiresIn: seconds })
    },
    async notReadyReason() {
      const { client, sdk } = await use()
      try {
        await client.send(new sdk.HeadBucketCommand({ Bucket }))
        return null
      } catch (error) {
        return `${describeError(error, config).message} Check that it exists, and check NODE_ARTIFACTS_BUCKET, S3_ENDPOINT and the permissions of the account.`
      }
    },
  }
}

async function connect(config: S3Config) {
  const sdk = await import('@aws-sdk/client-s3')
  const { S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = config
  const client = new sdk.S3Client({
    region: config.S3_REGION,
    forcePathStyle: config.S3_PATH_STYLE === '1',
    // Some stores do not support the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: IDLE_MS },
    maxAttempts: 2,
    // Its log messages also arrive as errors.
    logger: SILENT,
    ...(S3_ENDPOINT ? { endpoint: S3_ENDPOINT } : {}),
    ...(S3_ACCESS_KEY_ID && S3_SECRET_ACCESS_KEY
      ? { credentials: { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY } }
      : {}),
  })
  return { sdk, client }
}

/** Content-Disposition that makes a browser save a file under this name. */
export const attachment = (fileName: string): string =>
  `attachment; filename="${fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(fileName)}`

function describeError(error: unknown, { NODE_ARTIFACTS_BUCKET, S3_ENDPOINT }: S3Config): Error {
  const { name, code, message } = error as Error & { code?: string }
  const problem = certificateProblem({ code, message }, 'its CA in NODE_EXTRA_CA_CERTS of the API and the workers')
  return new Error(
    `The bucket ${NODE_ARTIFACTS_BUCKET}${S3_ENDPOINT ? ` at ${S3_ENDPOINT}` : ''} ${problem ?? `cannot be used (${code ?? name})`}.`,
  )
}
