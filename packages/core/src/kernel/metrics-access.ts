import { isSameSecret, readSharedSecret } from './shared-secret.ts'

/** @returns the token; null without a file. @throws Error the file is unreadable, or too short to be a secret */
export const readMetricsToken = (file: string | undefined): string | null =>
  file === undefined ? null : readSharedSecret('METRICS_TOKEN_FILE', file)

/** Whether a request has the bearer token. */
export const hasToken = (authorization: string | undefined, token: string): boolean =>
  isSameSecret(authorization ?? '', `Bearer ${token}`)
