import { closeSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { type Config, pathSetting } from '../kernel/config.ts'

export const credentialKeySettings = {
  CREDENTIAL_KEY_VERSION: z.coerce.number().int().min(1).max(255).default(1),
} as const

/** The three ways to give the master password; one of them is required. */
export const masterPasswordSettings = {
  /** The password from which the keys for credentials are derived. */
  CREDENTIAL_MASTER_PASSWORD: z.string().min(12, 'must have at least 12 characters').optional(),
  /** File with the password; one trailing newline is ignored. */
  CREDENTIAL_MASTER_PASSWORD_FILE: pathSetting.optional(),
  /** Open file descriptor from which the password is read. */
  CREDENTIAL_MASTER_PASSWORD_FD: z.coerce.number().int().min(3, 'must be 3 or more').max(1023).optional(),
} as const

const NAMES = Object.keys(masterPasswordSettings)

/**
 * Returns the master password and hides it from child processes: removes it from `env` and closes its descriptor.
 * @throws Error when there is no valid password
 */
export function takeMasterPassword(config: Config<typeof masterPasswordSettings>, env: NodeJS.ProcessEnv): string {
  for (const name of NAMES) delete env[name]
  const { CREDENTIAL_MASTER_PASSWORD: given, CREDENTIAL_MASTER_PASSWORD_FD: fd, CREDENTIAL_MASTER_PASSWORD_FILE: file } = config
  if (fd !== undefined) return readPassword(fd, `CREDENTIAL_MASTER_PASSWORD_FD names the descriptor ${fd}`)
  if (given) return given
  if (file) return readPassword(file, `CREDENTIAL_MASTER_PASSWORD_FILE names ${file}`)
  throw new Error(`Invalid configuration:\n  set one of ${NAMES.join(', ')}: credentials are encrypted with it`)
}

function readPassword(from: string | number, named: string): string {
  const wrong = (why: string) => new Error(`Invalid configuration:\n  ${named}, ${why}`)
  let text: string
  try {
    text = readFileSync(from, 'utf8').replace(/\r?\n$/, '')
    if (typeof from === 'number') closeSync(from)
  } catch (error) {
    throw wrong(`which cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  const parsed = masterPasswordSettings.CREDENTIAL_MASTER_PASSWORD.safeParse(text)
  if (!parsed.success) throw wrong(`whose text ${parsed.error.issues.map((i) => i.message).join(', ')}`)
  return text
}
