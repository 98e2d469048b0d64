import { changeEmail } from '@muster/core/access'
import { systemCtx } from '@muster/core/context'
import { reasonOf } from '@muster/core/log'
import { openRuntime } from './runtime.ts'

// `node apps/api/src/change-email.ts EMAIL NEW_EMAIL` changes the email address of a user.
try {
  const { runtime, close } = await openRuntime({ ...process.env, LOG_LEVEL: 'silent' }, 'change-email')
  const [email = '', newEmail = ''] = process.argv.slice(2)
  const user = await changeEmail(systemCtx(runtime), { email, newEmail })
  process.stdout.write(`${user.name} now signs in with ${user.email}.\n`)
  await close()
  process.exit(0)
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`)
  process.exit(1)
}
