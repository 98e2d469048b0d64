import { z } from 'zod'
import { pathSetting } from '../kernel/config.ts'

export const artifactStoreSettings = {
  /**
   * Directory for logs and files of runs, unless NODE_ARTIFACTS_BUCKET is set. Workers and API processes on several machines must
   * share it.
   */
  ARTIFACT_DIR: pathSetting.default('/var/lib/muster/artifacts'),
  /** Bucket of an S3-compatible store to use instead. */
  NODE_ARTIFACTS_BUCKET: z.string().min(1).optional(),
  S3_ENDPOINT: z.url().optional(),
  S3_REGION: z.string().min(1).default('us-east-1'),
  /** Without the keys, the AWS SDK uses its own variables, files, or the machine's role. */
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /** Prefix of all object keys. */
  S3_PREFIX: z
    .string()
    .regex(/^[\w!.*'()/-]*$/, "may have letters, digits and !.*'()/-_")
    .default(''),
  /** 1: put the bucket's name into the path, as most stores other than Amazon's require. */
  S3_PATH_STYLE: z.enum(['0', '1'], 'must be 1 or 0').default('0'),
} as const
