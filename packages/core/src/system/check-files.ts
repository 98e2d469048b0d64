import { stat } from 'node:fs/promises'
import type { Observation } from '../kernel/finding.ts'

/** A path with secrets, which only its owner may access. */
export type PrivatePath = { path: string; what: string }

/** Settings that name a file with a secret. The environment also has such variables of other programs. */
const SECRET_FILE = /^(CREDENTIAL|DATABASE|LDAP|METRICS|OIDC|PROXY|S3|SMTP|TLS)_.*(KEY|PASSWORD|SECRET|TOKEN|URL)_FILE$/

/** Files with secrets that settings NAME_FILE name. */
export function secretFilesOf(...settings: Record<string, unknown>[]): PrivatePath[] {
  const named = Object.entries(Object.assign({}, ...settings) as Record<string, unknown>)
  return named.flatMap(([name, path]) =>
    SECRET_FILE.test(name) && typeof path === 'string' && path !== ''
      ? [{ path, what: `The file of ${name.slice(0, -'_FILE'.length)}` }]
      : [],
  )
}

/** Container engines mount secrets here. Only processes of the container can read them, regardless of the file mode. */
const CONTAINER_SECRETS = '/run/secrets/'

/** Checks that only the process's user can access directories and files with secrets. Missing ones are not reported. */
export async function checkFiles(paths: PrivatePath[], uid = process.getuid?.()): Promise<Observation[]> {
  const found: Observation[] = []
  for (const { path, what } of paths) {
    const file = await stat(path).catch(() => null)
    if (!file || path.startsWith(CONTAINER_SECRETS)) continue
    const mode = file.mode & 0o777
    if (mode & 0o077)
      found.push({
        check: 'FILES',
        severity: 'ERROR',
        message: `${what} ${path} is accessible by other users (mode ${mode.toString(8).padStart(4, '0')}).`,
        nextStep: `Run: chmod ${file.isDirectory() ? '0700' : '0600'} ${path}`,
      })
    else if (uid !== undefined && uid !== 0 && file.uid !== uid)
      found.push({
        check: 'FILES',
        severity: 'WARNING',
        message: `${what} ${path} belongs to the user ${file.uid}, and this process runs as ${uid}.`,
        nextStep: `Run: chown ${uid} ${path}`,
      })
  }
  if (found.length) return found
  const message = 'Only their owner can access directories and files with secrets.'
  return [{ check: 'FILES', severity: 'OK', message, nextStep: null }]
}
