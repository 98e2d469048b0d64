import { z } from 'zod'
import { pathSetting } from '../kernel/config.ts'

export const artifactStoreSettings = {
  /**
   * Where logs and files of runs are kept, unless there is a NODE_ARTIFACTS_BUCKET. Workers and API processes on several machines
   * must share it.
   */
  ARTIFACT_DIR: pathSetting.default('/var/lib/muster/artifacts'),
  /** Bucket of an S3-compatible store for them instead. */
  NODE_ARTIFACTS_BUCKET: z.string().min(1).optional(),
  S3_ENDPOINT: z.url().optional(),
  S3_REGION: z.string().min(1).default('us-east-1'),
  /** Without them the AWS SDK looks where it always does: its own variables, files, or the machine's role. */
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /** Before the keys of all objects. */
  S3_PREFIX: z
    .string()
    .regex(/^[\w!.*'()/-]*$/, "may have letters, digits and !.*'()/-_")
    .default(''),
  /** 1: the bucket's name stands in the path, as most stores other than Amazon's want it. */
  S3_PATH_STYLE: z.enum(['0', '1'], 'must be 1 or 0').default('0'),
} as const
