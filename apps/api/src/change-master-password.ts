import { loadConfig, processSettings } from '@muster/core/config'
import { changeMasterPassword, masterPasswordSettings, takeMasterPassword } from '@muster/core/credentials'
import { connectDb } from '@muster/core/db'
import { reasonOf } from '@muster/core/log'

/** The new one: as the present one is given, but never in the environment itself. */
function newPassword(env: NodeJS.ProcessEnv): string {
  const [file, fd] = [env.NEW_CREDENTIAL_MASTER_PASSWORD_FILE, env.NEW_CREDENTIAL_MASTER_PASSWORD_FD]
  if (!file && !fd)
    throw new Error(
      'Give the new one: NEW_CREDENTIAL_MASTER_PASSWORD_FILE names a file, NEW_CREDENTIAL_MASTER_PASSWORD_FD a descriptor.',
    )
  const given = { CREDENTIAL_MASTER_PASSWORD_FILE: file, CREDENTIAL_MASTER_PASSWORD_FD: fd }
  try {
    return takeMasterPassword(loadConfig(given, masterPasswordSettings), {})
  } catch (error) {
    throw new Error(reasonOf(error).replaceAll('CREDENTIAL_MASTER_PASSWORD', 'NEW_CREDENTIAL_MASTER_PASSWORD'))
  }
}

// `node apps/api/src/change-master-password.ts`, with the settings of the API and the new password.
try {
  const { env } = process
  const config = loadConfig(env, { ...processSettings, ...masterPasswordSettings })
  const [from, to] = [takeMasterPassword(config, env), newPassword(env)]
  const { db, close } = connectDb(config.DATABASE_URL, { max: 1, name: 'muster-change-master-password' })
  const isNew = await changeMasterPassword(db, from, to).finally(close)
  process.stdout.write(
    isNew
      ? 'Changed. Start every API and worker process with the new master password now; until then they go on with the keys that they have.\n'
      : 'The new master password is the one already.\n',
  )
} catch (error) {
  process.stderr.write(`The master password was not changed. ${reasonOf(error)}\n`)
  process.exitCode = 1
}
