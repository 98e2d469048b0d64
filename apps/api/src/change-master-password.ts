import { accessSettings } from '@muster/core/access'
import { loadConfig, pickSettings, processSettings } from '@muster/core/config'
import { changeMasterPassword, masterPasswordSettings, takeMasterPassword } from '@muster/core/credentials'
import { connectDb, roleUrls } from '@muster/core/db'
import { reasonOf } from '@muster/core/log'
import { deriveAuthSecret } from './sign-in/auth.ts'
import { reencryptSecondFactors } from './sign-in/reencrypt-second-factors.ts'

/** Reads the new master password from a file or a file descriptor. Environment variables cannot hold it. */
function newPassword(env: NodeJS.ProcessEnv): string {
  const [file, fd] = [env.NEW_CREDENTIAL_MASTER_PASSWORD_FILE, env.NEW_CREDENTIAL_MASTER_PASSWORD_FD]
  if (!file && !fd)
    throw new Error(
      'The new master password is missing: set NEW_CREDENTIAL_MASTER_PASSWORD_FILE to a file or NEW_CREDENTIAL_MASTER_PASSWORD_FD to a file descriptor.',
    )
  const settings = { CREDENTIAL_MASTER_PASSWORD_FILE: file, CREDENTIAL_MASTER_PASSWORD_FD: fd }
  try {
    return takeMasterPassword(loadConfig(settings, masterPasswordSettings), {})
  } catch (error) {
    throw new Error(reasonOf(error).replaceAll('CREDENTIAL_MASTER_PASSWORD', 'NEW_CREDENTIAL_MASTER_PASSWORD'))
  }
}

// Run as `node apps/api/src/change-master-password.ts` with the settings of the API and the new password.
try {
  const { env } = process
  const config = loadConfig(env, {
    ...processSettings,
    ...masterPasswordSettings,
    ...pickSettings(accessSettings, 'AUTH_SECRET'),
  })
  const [from, to] = [takeMasterPassword(config, env), newPassword(env)]
  const { db, close } = connectDb(roleUrls(config).system, { max: 1, name: 'muster-change-master-password' })
  const isChanged = await changeMasterPassword(db, from, to, undefined, async (tx) => {
    if (!config.AUTH_SECRET) await reencryptSecondFactors(tx, deriveAuthSecret(from), deriveAuthSecret(to))
  }).finally(close)
  process.stdout.write(
    isChanged
      ? 'Changed. Restart every API and worker process with the new master password. Until then they use the keys in memory.\n'
      : 'Unchanged: the new master password is already in use.\n',
  )
} catch (error) {
  process.stderr.write(`The master password was not changed. ${reasonOf(error)}\n`)
  process.exitCode = 1
}
