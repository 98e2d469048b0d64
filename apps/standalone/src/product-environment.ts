import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { root } from './root.ts'
import type { Settings } from './settings.ts'

/**
 * Environment of the API, the worker and maintenance programs of a data directory. The caller adds DATABASE_URL, and the descriptor of
 * a master password from the environment.
 */
export function productEnvironment(settings: Settings, publicUrl: string, env = process.env): NodeJS.ProcessEnv {
  const { dataDir } = settings
  return {
    ...env,
    MUSTER_DATA_DIR: dataDir,
    MUSTER_PUBLIC_URL: publicUrl,
    ANSIBLE_WORK_DIR: env.ANSIBLE_WORK_DIR || path.join(dataDir, 'ansible'),
    ARTIFACT_DIR: settings.artifactDir,
    ANSIBLE_PLAYBOOK_REPO_PATH: env.ANSIBLE_PLAYBOOK_REPO_PATH || path.join(root, 'playbooks'),
    ...(settings.hasMasterPassword ? {} : { CREDENTIAL_MASTER_PASSWORD_FILE: masterPasswordFile(settings) }),
  }
}

/** Path of the generated master password, created once per data directory. With the database it decrypts every credential. */
function masterPasswordFile({ dataDir, databaseUrl }: Settings): string {
  const file = path.join(dataDir, 'master-password')
  if (fs.existsSync(file)) return file
  // A new password could not decrypt what the restored database contains.
  if (!databaseUrl && fs.existsSync(path.join(dataDir, 'postgres/data/PG_VERSION')))
    throw new Error(
      `The master password ${file} is missing, and the database was encrypted with it. Write it to that file again, or set CREDENTIAL_MASTER_PASSWORD.`,
    )
  fs.writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
  return file
}
